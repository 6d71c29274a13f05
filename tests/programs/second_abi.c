/* Enters the kernel by the numbers of another ABI of the same machine. usage: second_abi i386|x32
 * Prints "done" when the kernel answered, "absent" when this machine has no such entry, else the
 * errno's name. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void absent(int number) {
  (void)number;
  (void)!write(1, "absent\n", 7);
  _exit(0);
}

static long enter(const char* abi) {
#if defined(__x86_64__)
  if (strcmp(abi, "i386") == 0) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
    return (int)result;
  }
  const long result = syscall(0x40000000L | 39);
  return result < 0 ? -errno : result;
#else
  (void)abi;
  return -ENOSYS;
#endif
}

int main(int argc, char** argv) {
  signal(SIGSEGV, absent);
  const long result = enter(argc > 1 ? argv[1] : "x32");
  if (result >= 0) {
    puts("done");
  } else if (result == -EPERM) {
    puts("EPERM");
  } else {
    puts(result == -ENOSYS ? "ENOSYS" : strerror((int)-result));
  }
  return 0;
}
