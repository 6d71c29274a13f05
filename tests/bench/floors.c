#define _GNU_SOURCE
#include "floors.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

enum { kKept = 32768, kBuffer = 1 << 16 };

static int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EIO;
}

int floor_spawn(char* const argv[]) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed != 0 ? failed : wait_for(pid);
}

int floor_vfork(char* const argv[]) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) {
    return errno;
  }
  const pid_t pid = vfork();
  if (pid == 0) {
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    execve(argv[0], argv, environ);
    _exit(127);
  }
  close(null);
  return pid < 0 ? errno : wait_for(pid);
}

int floor_kill(long* nanoseconds) {
  pid_t pid = -1;
  char* const argv[] = {(char[]){"sleep"}, (char[]){"600"}, NULL};
  /* posix_spawn(3) comes back when the program is in place, as vfork(2) does. */
  const int failed = posix_spawn(&pid, "/bin/sleep", NULL, NULL, argv, environ);
  if (failed != 0) {
    return failed;
  }
  struct timespec begin;
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  kill(pid, SIGKILL);
  (void)wait_for(pid);
  clock_gettime(CLOCK_MONOTONIC, &end);
  *nanoseconds = (end.tv_sec - begin.tv_sec) * 1000000000L + (end.tv_nsec - begin.tv_nsec);
  return 0;
}

/* Starts bash with its descriptors 0 and 1 on the given ends; 2 follows 1. */
static pid_t start_bash(char* const argv[], int input, int output) {
  const pid_t pid = vfork();
  if (pid == 0) {
    dup2(input, 0);
    dup2(output, 1);
    dup2(output, 2);
    execve("/bin/bash", argv, environ);
    _exit(127);
  }
  return pid;
}

int floor_bash_open(struct floor_bash* bash) {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0) {
    return errno;
  }
  if (pipe2(out, O_CLOEXEC) != 0) {
    const int failed = errno;
    close(in[0]);
    close(in[1]);
    return failed;
  }
  char* const argv[] = {(char[]){"bash"}, (char[]){"--norc"}, (char[]){"--noprofile"}, NULL};
  bash->pid = start_bash(argv, in[0], out[1]);
  const int failed = bash->pid < 0 ? errno : 0;
  close(in[0]);
  close(out[1]);
  bash->input = in[1];
  bash->output = out[0];
  return failed;
}

int floor_bash_call(struct floor_bash* bash, const char* command) {
  char line[4096];
  const int length =
      snprintf(line, sizeof line, "{ %s\n} 2>&1 </dev/null; printf '\\001%%d\\n' $?\n", command);
  if (length < 0 || (size_t)length >= sizeof line) {
    return E2BIG;
  }
  if (write(bash->input, line, (size_t)length) != length) {
    return errno != 0 ? errno : EPIPE;
  }
  char answer[4096];
  int seen = 0;
  for (;;) {
    const ssize_t got = read(bash->output, answer, sizeof answer);
    if (got <= 0) {
      return got < 0 ? errno : EPIPE;
    }
    for (ssize_t i = 0; i < got; ++i) {
      if (seen && answer[i] == '\n') {
        return 0;
      }
      seen = seen || answer[i] == '\001';
    }
  }
}

void floor_bash_close(struct floor_bash* bash) {
  close(bash->input);
  close(bash->output);
  (void)wait_for(bash->pid);
}

int floor_drain(const char* command, int spool, size_t spooled, size_t* total) {
  static char buffer[kBuffer];
  static char head[kKept];
  static char tail[kKept];
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) {
    return errno;
  }
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  char* text = strdup(command);
  char* const argv[] = {(char[]){"bash"}, (char[]){"-c"}, text, NULL};
  const pid_t pid = start_bash(argv, null, out[1]);
  close(null);
  close(out[1]);
  size_t count = 0;
  ssize_t got = 0;
  while (pid > 0 && (got = read(out[0], buffer, sizeof buffer)) > 0) {
    const size_t fresh = (size_t)got;
    if (count < kKept) {
      memcpy(head + count, buffer, fresh < kKept - count ? fresh : kKept - count);
    }
    if (fresh >= kKept) {
      memcpy(tail, buffer + fresh - kKept, kKept);
    } else {
      memmove(tail, tail + fresh, kKept - fresh);
      memcpy(tail + kKept - fresh, buffer, fresh);
    }
    if (spool >= 0 && count < spooled && write(spool, buffer, fresh) != got) {
      break;
    }
    count += fresh;
  }
  close(out[0]);
  free(text);
  *total = count;
  return pid < 0 ? EAGAIN : wait_for(pid);
}
