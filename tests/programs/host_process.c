/* A process of the host that escape tests attack. usage: host_process UID SECRET-FILE
 * Holds the file open as descriptor 7, becomes that user, says where its memory holds a secret, and
 * then writes one letter to standard output for each signal: 1 for SIGUSR1, 2 for SIGUSR2. */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static char secret[] = "a secret in memory";

static void tell(int number) {
  (void)!write(1, number == SIGUSR1 ? "1" : "2", 1);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  const int fd = open(argv[2], O_RDONLY);
  if (fd < 0 || (fd != 7 && dup2(fd, 7) != 7)) {
    return 1;
  }
  const unsigned uid = (unsigned)atoi(argv[1]);
  if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(uid) != 0 || setuid(uid) != 0)) {
    return 1;
  }
  prctl(PR_SET_DUMPABLE, 1); /* setuid took it away, and nobody could be shown to trace us */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct sigaction action = {0};
  action.sa_handler = tell;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  printf("%lu\n", (unsigned long)secret);
  fflush(stdout);
  for (;;) {
    pause();
  }
}
