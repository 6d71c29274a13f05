/* What programs do all day, so many times. usage: steady getpid|filtered|open TIMES PATH
   filtered: getpid under a seccomp filter that allows everything, the least that any filter costs
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int allow_everything(void) {
  struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const struct sock_fprog program = {1, &allow};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    return 2;
  }
  if (strcmp(argv[1], "filtered") == 0 && !allow_everything()) {
    return 1;
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
