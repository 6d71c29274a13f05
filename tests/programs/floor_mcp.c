/* The least that an MCP server on stdio can cost: it scans a request for what it needs instead of
 * parsing it, and answers. A floor for benchmarks, not a server.
 *
 *   floor_mcp constant   each tools/call gets the same answer
 *   floor_mcp bash       arguments.command runs in one bash on pipes, without any wall
 *
 * A request is one line of at most 64 KiB. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kLine = 1 << 16 };

static int bash_input = -1;
static int bash_output = -1;

static void open_bash(void) {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
    _exit(1);
  }
  const pid_t pid = vfork();
  if (pid == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(out[1], 2);
    execl("/bin/bash", "bash", "--norc", "--noprofile", (char*)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  bash_input = in[1];
  bash_output = out[0];
}

/* The text of "command":"..." with its escapes undone as far as benchmarks use them. */
static size_t find_command(const char* line, char* command, size_t size) {
  const char* at = strstr(line, "\"command\":\"");
  size_t length = 0;
  if (at != NULL) {
    for (at += strlen("\"command\":\""); *at != '\0' && *at != '"' && length + 1 < size; ++at) {
      if (*at == '\\' && at[1] != '\0') {
        ++at;
        command[length++] = *at == 'n' ? '\n' : *at;
      } else {
        command[length++] = *at;
      }
    }
  }
  command[length] = '\0';
  return length;
}

/* Runs one command in the bash; its output is dropped, its status returned. */
static int call_bash(const char* command) {
  static char text[kLine];
  const int length =
      snprintf(text, sizeof text, "{ %s\n} 2>&1 </dev/null; printf '\\001%%d\\n' $?\n", command);
  if (length < 0 || (size_t)length >= sizeof text ||
      write(bash_input, text, (size_t)length) != length) {
    _exit(1);
  }
  int seen = 0;
  int status = 0;
  for (;;) {
    const ssize_t got = read(bash_output, text, sizeof text);
    if (got <= 0) {
      _exit(1);
    }
    for (ssize_t i = 0; i < got; ++i) {
      if (seen && text[i] == '\n') {
        return status;
      }
      if (seen) {
        status = status * 10 + (text[i] - '0');
      }
      seen = seen || text[i] == '\001';
    }
  }
}

static void answer(const char* line, int with_bash) {
  static char command[kLine];
  static char reply[1024];
  const char* id = strstr(line, "\"id\":");
  if (id == NULL) {
    return;
  }
  const long number = strtol(id + strlen("\"id\":"), NULL, 10);
  int length = 0;
  if (strstr(line, "\"initialize\"") != NULL) {
    length =
        snprintf(reply, sizeof reply,
                 "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"protocolVersion\":\"2025-11-25\","
                 "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"floor\","
                 "\"version\":\"0\"}}}\n",
                 number);
  } else {
    int status = 0;
    if (with_bash && find_command(line, command, sizeof command) > 0) {
      status = call_bash(command);
    }
    length = snprintf(reply, sizeof reply,
                      "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"content\":[{\"type\":\"text\","
                      "\"text\":\"ok\"}],\"structuredContent\":{\"exit_code\":%d},"
                      "\"isError\":false}}\n",
                      number, status);
  }
  if (length < 0 || write(1, reply, (size_t)length) != length) {
    _exit(1);
  }
}

int main(int argc, char** argv) {
  const int with_bash = argc > 1 && strcmp(argv[1], "bash") == 0;
  if (with_bash) {
    open_bash();
  }
  static char buffer[kLine];
  size_t held = 0;
  for (;;) {
    const ssize_t got = read(0, buffer + held, sizeof buffer - held - 1);
    if (got <= 0) {
      return 0;
    }
    held += (size_t)got;
    char* end = NULL;
    while ((end = memchr(buffer, '\n', held)) != NULL) {
      *end = '\0';
      answer(buffer, with_bash);
      const size_t used = (size_t)(end - buffer) + 1;
      memmove(buffer, buffer + used, held - used);
      held -= used;
    }
    if (held + 1 >= sizeof buffer) {
      return 1;
    }
  }
}
