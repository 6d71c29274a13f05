/* The floors: the least that the kernel and bash cost for a job, in plain C without any library of
 * ours. Every call is blocking. Return 0 on success, else an errno. */
#ifndef BAWN_BENCH_FLOORS_H
#define BAWN_BENCH_FLOORS_H

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* posix_spawn(argv), waitpid; descriptors 0-2 are /dev/null. EIO when it does not exit with 0. */
int floor_spawn(char* const argv[]);

/* The same by vfork and execve alone. */
int floor_vfork(char* const argv[]);

/* Starts a sleeping program, ends it with SIGKILL and stores how long that took until wait(2) told.
 */
int floor_kill(long* nanoseconds);

struct floor_bash {
  pid_t pid;
  int input;  /* write end: what bash reads */
  int output; /* read end: what bash prints */
};

/* One bash that reads its commands from a pipe. */
int floor_bash_open(struct floor_bash* bash);
/* Writes `command` and reads until its status line has come. */
int floor_bash_call(struct floor_bash* bash, const char* command);
void floor_bash_close(struct floor_bash* bash);

/* Runs `bash -c command`, reads its output to the end with one buffer, keeps head and tail, writes
 * the first `spooled` bytes to `spool` (-1 = nowhere), and stores how many bytes came. */
int floor_drain(const char* command, int spool, size_t spooled, size_t* total);

#ifdef __cplusplus
}
#endif
#endif
