// An emulated link between two network namespaces, in user space over two TUN devices.
//
// usage: link NEAR_NAMESPACE NEAR_DEVICE FAR_NAMESPACE FAR_DEVICE [ADDRESS]
//   The phone is at the near end; "up" is from near to far. Packets from or to ADDRESS pass at once.
//
// Reads commands from standard input, answers each with one line of JSON, and ends with its input:
//   set KEY=VALUE...    delay (ms one way), down, up (kbit/s, 0 unlimited), downqueue, upqueue (KB of 1,000 bytes),
//                       loss (percent), burst (percent good to bad:percent bad to good:percent lost in bad), seed.
//                       What is not named is 0; what is under way is forgotten. Without seed the generator goes on.
//   trace up|down PATH  a Mahimahi packet-delivery trace in place of a rate; it begins now
//   rewind MS SEED      traces are MS past their beginning now, and the loss is that of the seed anew, if it is not
//                       negative; what is under way stays
//   outage on|off       while on, whatever enters or would arrive is dropped
//   counters            since the start
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "link-direction.h"
#include "link-flows.h"

// Packets read from one device before due ones are looked at again.
#define READ_BATCH 32

enum { UP, DOWN };

static direction directions[2];
static flow_counters flows;
static bool outage;
static uint32_t exempt_address; // 0: none

static nanoseconds now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "Cannot start the link: %s: %s\n", what, strerror(errno));
  exit(1);
}

// Without offloads, so every packet is one that a wire would carry.
static int open_tun(const char *namespace, const char *device) {
  char path[256];
  snprintf(path, sizeof path, "/var/run/netns/%s", namespace);
  int handle = open(path, O_RDONLY | O_CLOEXEC);
  if (handle < 0 || setns(handle, CLONE_NEWNET)) fail(path);
  close(handle);
  int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (tun < 0) fail("/dev/net/tun");
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  snprintf(request.ifr_name, IFNAMSIZ, "%s", device);
  if (ioctl(tun, TUNSETIFF, &request)) fail(device);
  return tun;
}

static void answer_error(const char *problem, const char *about) {
  printf("{\"error\":\"%s: ", problem);
  for (; *about; about++) {
    if (*about == '"' || *about == '\\') putchar('\\');
    if ((unsigned char)*about >= ' ') putchar(*about);
  }
  puts("\"}");
}

static void command_set(char *settings) {
  double delay = 0, down = 0, up = 0, down_queue = 0, up_queue = 0, loss = 0;
  double good_to_bad = 0, bad_to_good = 0, loss_in_bad = 0;
  long seed = -1;
  for (char *setting = strtok(settings, " "); setting; setting = strtok(NULL, " ")) {
    int end = 0;
    const struct { const char *format; double *value; } numbers[] = {
        {"delay=%lf%n", &delay}, {"down=%lf%n", &down}, {"up=%lf%n", &up}, {"downqueue=%lf%n", &down_queue},
        {"upqueue=%lf%n", &up_queue}, {"loss=%lf%n", &loss}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !end; i++)
      sscanf(setting, numbers[i].format, numbers[i].value, &end);
    if (!end) sscanf(setting, "burst=%lf:%lf:%lf%n", &good_to_bad, &bad_to_good, &loss_in_bad, &end);
    if (!end) sscanf(setting, "seed=%ld%n", &seed, &end);
    if (!end || setting[end]) return answer_error("no such setting", setting);
  }
  for (int i = UP; i <= DOWN; i++) {
    direction *d = &directions[i];
    double rate = i == UP ? up : down;
    direction_empty(d);
    free(d->trace.times);
    d->trace = (trace){0};
    d->delay = (nanoseconds)(delay * MILLISECOND);
    d->nanoseconds_per_byte = rate > 0 ? 8e6 / rate : 0;
    d->queue_limit = (long)(1000 * (i == UP ? up_queue : down_queue));
    d->loss = loss / 100;
    d->good_to_bad = good_to_bad / 100;
    d->bad_to_good = bad_to_good / 100;
    d->loss_in_bad = loss_in_bad / 100;
    if (seed >= 0) direction_seed(d, (uint64_t)seed * 2 + (uint64_t)i);
  }
  puts("{}");
}

static void command_trace(const char *which, const char *path) {
  direction *d = &directions[strcmp(which, "up") == 0 ? UP : DOWN];
  direction_empty(d);
  const char *problem = trace_load(&d->trace, path, now());
  if (problem) answer_error(problem, path);
  else puts("{}");
}

static void command_rewind(const char *arguments) {
  long into, seed;
  if (sscanf(arguments, "%ld %ld", &into, &seed) != 2 || into < 0) return answer_error("no such place", arguments);
  for (int i = UP; i <= DOWN; i++) {
    direction *d = &directions[i];
    if (d->trace.count) trace_rewind(&d->trace, now() - into * MILLISECOND);
    if (seed >= 0) direction_seed(d, (uint64_t)seed * 2 + (uint64_t)i);
  }
  puts("{}");
}

static void print_direction(const char *name, const direction *d) {
  printf("\"%s\":{\"bytes\":%ld,\"packets\":%ld,\"droppedByQueue\":%ld,\"droppedByLoss\":%ld,\"droppedInOutage\":%ld}",
         name, d->bytes, d->packets, d->dropped_by_queue, d->dropped_by_loss, d->dropped_in_outage);
}

static void command_counters(void) {
  putchar('{');
  print_direction("up", &directions[UP]);
  putchar(',');
  print_direction("down", &directions[DOWN]);
  printf(",\"tcpConnections\":%ld,\"quicConnections\":%ld,\"dnsQueries\":%ld}\n", flows.tcp_connections,
         flows.quic_connections, flows.dns_queries);
}

static void run_command(char *line) {
  if (strncmp(line, "set ", 4) == 0) command_set(line + 4);
  else if (strncmp(line, "trace up ", 9) == 0) command_trace("up", line + 9);
  else if (strncmp(line, "trace down ", 11) == 0) command_trace("down", line + 11);
  else if (strncmp(line, "rewind ", 7) == 0) command_rewind(line + 7);
  else if (strcmp(line, "outage on") == 0 || strcmp(line, "outage off") == 0) outage = line[8] == 'n', puts("{}");
  else if (strcmp(line, "counters") == 0) command_counters();
  else answer_error("no such command", line);
  fflush(stdout);
}

// False at the end of the input.
static bool read_commands(void) {
  static char pending[8192];
  static size_t length;
  ssize_t got = read(STDIN_FILENO, pending + length, sizeof pending - 1 - length);
  if (got <= 0) return false;
  length += (size_t)got;
  pending[length] = 0;
  char *start = pending;
  for (char *end; (end = strchr(start, '\n')); start = end + 1) {
    *end = 0;
    run_command(start);
  }
  length -= (size_t)(start - pending);
  memmove(pending, start, length);
  return length < sizeof pending - 1;
}

static bool is_exempt(const uint8_t *bytes, int length) {
  return exempt_address && length >= 20 && (read32(bytes + 12) == exempt_address || read32(bytes + 16) == exempt_address);
}

static void take_packets(int from, int to, int which) {
  direction *d = &directions[which];
  uint8_t bytes[2048];
  for (int i = 0; i < READ_BATCH; i++) {
    int length = (int)read(from, bytes, sizeof bytes);
    if (length <= 0) return;
    if (which == UP) count_flows(&flows, bytes, length);
    if (outage) {
      d->dropped_in_outage++;
    } else if (is_exempt(bytes, length)) {
      if (write(to, bytes, (size_t)length) == length) d->packets++, d->bytes += length;
    } else {
      direction_send(d, bytes, length, now());
    }
  }
}

// Packets are delivered within microseconds of their time only if nothing else can keep the process waiting.
static bool become_punctual(void) {
  struct sched_param priority = {.sched_priority = 1};
  prctl(PR_SET_TIMERSLACK, 1);
  mlockall(MCL_CURRENT | MCL_FUTURE);
  return sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
}

int main(int count, char **arguments) {
  if (count < 5 || count > 6) {
    fputs("usage: link NEAR_NAMESPACE NEAR_DEVICE FAR_NAMESPACE FAR_DEVICE [ADDRESS]\n", stderr);
    return 2;
  }
  if (count == 6) exempt_address = ntohl(inet_addr(arguments[5]));
  int near = open_tun(arguments[1], arguments[2]), far = open_tun(arguments[3], arguments[4]);
  printf("{\"ready\":true,\"punctual\":%s}\n", become_punctual() ? "true" : "false");
  fflush(stdout);

  for (;;) {
    nanoseconds time = now(), next = time + 1000 * MILLISECOND;
    direction_deliver(&directions[UP], far, time, outage);
    direction_deliver(&directions[DOWN], near, time, outage);
    for (int i = UP; i <= DOWN; i++)
      if (directions[i].head && directions[i].head->due < next) next = directions[i].head->due;

    nanoseconds wait = next - now();
    if (wait < 0) wait = 0;
    struct timespec timeout = {wait / 1000000000ll, wait % 1000000000ll};
    struct pollfd polled[] = {{near, POLLIN, 0}, {far, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    if (ppoll(polled, 3, &timeout, NULL) < 0) continue;
    for (int i = 0; i < 2; i++)
      if (polled[i].revents & (POLLERR | POLLHUP | POLLNVAL)) return 1; // its namespace is gone
    // Due ones first: a full device must not hold them up.
    time = now();
    direction_deliver(&directions[UP], far, time, outage);
    direction_deliver(&directions[DOWN], near, time, outage);
    if (polled[0].revents) take_packets(near, far, UP);
    if (polled[1].revents) take_packets(far, near, DOWN);
    if (polled[2].revents && !read_commands()) return 0;
  }
}
