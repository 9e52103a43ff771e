// One direction of the emulated link: a drop-tail queue, a serialiser (rate or trace), loss on the air, a delay.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Nanoseconds of CLOCK_MONOTONIC.
typedef int64_t nanoseconds;

#define MILLISECOND 1000000ll
// Bytes of one delivery opportunity in Mahimahi's traces.
#define OPPORTUNITY 1500

typedef struct packet {
  nanoseconds sent; // its last byte has left the serialiser
  nanoseconds due;  // it arrives
  bool lost;
  int length;
  struct packet *next;
  uint8_t bytes[];
} packet;

// A packet-delivery trace: the milliseconds at which OPPORTUNITY bytes may leave; it repeats after the last of them.
typedef struct {
  uint32_t *times;
  size_t count;
  nanoseconds start;
  int64_t lap;
  size_t index;
  int left; // bytes of the opportunity at `index` that are not taken
} trace;

typedef struct {
  nanoseconds delay;
  double nanoseconds_per_byte; // 0: unlimited
  long queue_limit;            // bytes
  double loss, loss_in_bad, good_to_bad, bad_to_good; // probabilities
  trace trace;                 // used if count > 0

  packet *head, *tail;
  packet *waiting; // the first in the list that has not left the serialiser
  long waiting_bytes;
  nanoseconds busy_until;
  bool bad;
  uint64_t random_state;

  long bytes, packets, dropped_by_queue, dropped_by_loss, dropped_in_outage;
} direction;

// splitmix64 (Steele, Lea, Flood 2014); uniform in [0, 1).
static double random_unit(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

// Loads a trace. Returns NULL, or what is wrong with it.
static const char *trace_load(trace *t, const char *path, nanoseconds start) {
  FILE *file = fopen(path, "r");
  if (!file) return "the trace cannot be read";
  uint32_t *times = NULL;
  size_t count = 0, room = 0;
  const char *problem = NULL;
  char line[64];
  while (!problem && fgets(line, sizeof line, file)) {
    char *end;
    unsigned long time = strtoul(line, &end, 10);
    if (end == line || (*end && *end != '\n' && *end != '\r')) problem = "a line of the trace is not a number";
    else if (time > UINT32_MAX || (count && time < times[count - 1])) problem = "the trace's times do not ascend";
    if (problem) break;
    if (count == room) times = realloc(times, (room = room ? 2 * room : 4096) * sizeof *times);
    if (!times) abort();
    times[count++] = (uint32_t)time;
  }
  fclose(file);
  if (!problem && (count == 0 || times[count - 1] == 0)) problem = "the trace has no duration";
  if (problem) {
    free(times);
    return problem;
  }
  free(t->times);
  *t = (trace){.times = times, .count = count, .start = start, .left = OPPORTUNITY};
  return NULL;
}

static void trace_rewind(trace *t, nanoseconds start) {
  t->start = start;
  t->lap = 0;
  t->index = 0;
  t->left = OPPORTUNITY;
}

static nanoseconds trace_time(const trace *t) {
  return t->start + (t->lap * t->times[t->count - 1] + t->times[t->index]) * MILLISECOND;
}

static void trace_advance(trace *t) {
  t->left = OPPORTUNITY;
  if (++t->index < t->count) return;
  t->index = 0;
  t->lap++;
}

// When the last of `length` bytes leaves that are ready at `now`, after all earlier ones.
// Opportunities that pass while nothing is waiting are gone, as on a radio link.
static nanoseconds trace_serialise(trace *t, int length, nanoseconds now) {
  int64_t lap = (now - t->start) / (t->times[t->count - 1] * MILLISECOND);
  if (lap > t->lap) {
    t->lap = lap;
    t->index = 0;
    t->left = OPPORTUNITY;
  }
  while (trace_time(t) < now) trace_advance(t);
  while (length > t->left) {
    length -= t->left;
    trace_advance(t);
  }
  t->left -= length;
  nanoseconds sent = trace_time(t);
  if (t->left == 0) trace_advance(t);
  return sent;
}

static nanoseconds serialise(direction *d, int length, nanoseconds now) {
  if (d->trace.count) return trace_serialise(&d->trace, length, now);
  if (d->nanoseconds_per_byte == 0) return now;
  nanoseconds start = d->busy_until > now ? d->busy_until : now;
  return d->busy_until = start + (nanoseconds)(length * d->nanoseconds_per_byte + 0.5);
}

// Takes what has left the serialiser by `now` off the queue's fill.
static void settle_queue(direction *d, nanoseconds now) {
  for (; d->waiting && d->waiting->sent <= now; d->waiting = d->waiting->next) d->waiting_bytes -= d->waiting->length;
}

// Bernoulli loss, or with good_to_bad above 0 the Gilbert-Elliott chain, one step per packet.
static bool draw_loss(direction *d) {
  double change = random_unit(&d->random_state), fate = random_unit(&d->random_state);
  d->bad = d->bad ? change >= d->bad_to_good : change < d->good_to_bad;
  return fate < (d->bad ? d->loss_in_bad : d->loss);
}

static void direction_seed(direction *d, uint64_t seed) {
  d->random_state = seed;
  d->bad = false;
}

// A packet enters. A lost one still takes its time on the link: it is lost on the air, behind the queue.
static void direction_send(direction *d, const uint8_t *bytes, int length, nanoseconds now) {
  bool limited = d->trace.count || d->nanoseconds_per_byte > 0;
  settle_queue(d, now);
  if (limited && d->waiting_bytes + length > d->queue_limit) {
    d->dropped_by_queue++;
    return;
  }
  packet *p = malloc(sizeof *p + (size_t)length);
  if (!p) abort();
  p->sent = serialise(d, length, now);
  p->due = p->sent + d->delay;
  p->lost = draw_loss(d);
  p->length = length;
  p->next = NULL;
  memcpy(p->bytes, bytes, (size_t)length);
  if (d->tail) d->tail->next = p;
  else d->head = p;
  d->tail = p;
  if (!d->waiting) d->waiting = p;
  d->waiting_bytes += length;
}

// Hands over what has arrived by `now`.
static void direction_deliver(direction *d, int to, nanoseconds now, bool outage) {
  settle_queue(d, now);
  while (d->head && d->head->due <= now) {
    packet *p = d->head;
    d->head = p->next;
    if (!d->head) d->tail = NULL;
    if (outage) {
      d->dropped_in_outage++;
    } else if (p->lost) {
      d->dropped_by_loss++;
    } else if (write(to, p->bytes, (size_t)p->length) == p->length) {
      d->packets++;
      d->bytes += p->length;
    }
    free(p);
  }
}

// Forgets everything under way.
static void direction_empty(direction *d) {
  while (d->head) {
    packet *p = d->head;
    d->head = p->next;
    free(p);
  }
  d->tail = d->waiting = NULL;
  d->waiting_bytes = 0;
  d->busy_until = 0;
  d->bad = false;
}
