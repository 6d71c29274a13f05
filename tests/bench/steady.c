/* What programs do all day, so many times. usage: steady getpid|open TIMES PATH */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 4) {
    return 2;
  }
  const int opens = strcmp(argv[1], "open") == 0;
  for (long left = atol(argv[2]); left > 0; --left) {
    if (!opens) {
      (void)syscall(SYS_getpid);
      continue;
    }
    struct stat found;
    const int fd = open(argv[3], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || stat(argv[3], &found) != 0) {
      return 1;
    }
    close(fd);
  }
  return 0;
}
