// What the phone opens over the link, read off its packets: TCP connections, QUIC connections, DNS queries.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// One connection. `first_sequence` tells a repeated SYN (same number) from a port used again (another number).
typedef struct {
  uint32_t source, destination, first_sequence;
  uint16_t source_port, destination_port;
  uint8_t protocol;
} flow;

// Open addressing; `slots` is a power of two and at most half full. protocol 0 marks a free slot.
typedef struct {
  flow *slots;
  size_t size, used;
} flow_set;

typedef struct {
  flow_set seen;
  long tcp_connections, quic_connections, dns_queries;
} flow_counters;

static bool flow_equal(const flow *a, const flow *b) {
  return a->source == b->source && a->destination == b->destination && a->first_sequence == b->first_sequence &&
         a->source_port == b->source_port && a->destination_port == b->destination_port && a->protocol == b->protocol;
}

static size_t flow_hash(const flow *f) {
  uint64_t hash = f->source * 0x9e3779b97f4a7c15ull;
  hash = (hash ^ f->destination ^ ((uint64_t)f->first_sequence << 32)) * 0xbf58476d1ce4e5b9ull;
  hash = (hash ^ f->source_port ^ ((uint64_t)f->destination_port << 16) ^ ((uint64_t)f->protocol << 32)) *
         0x94d049bb133111ebull;
  return hash ^ (hash >> 31);
}

static void flow_set_grow(flow_set *set);

// True if the flow was not in the set before.
static bool flow_set_add(flow_set *set, const flow *f) {
  if (2 * set->used >= set->size) flow_set_grow(set);
  size_t index = flow_hash(f) & (set->size - 1);
  while (set->slots[index].protocol) {
    if (flow_equal(&set->slots[index], f)) return false;
    index = (index + 1) & (set->size - 1);
  }
  set->slots[index] = *f;
  set->used++;
  return true;
}

static void flow_set_grow(flow_set *set) {
  flow_set bigger = {calloc(set->size ? 2 * set->size : 1024, sizeof(flow)), set->size ? 2 * set->size : 1024, 0};
  if (!bigger.slots) abort();
  for (size_t i = 0; i < set->size; i++)
    if (set->slots[i].protocol) flow_set_add(&bigger, &set->slots[i]);
  free(set->slots);
  *set = bigger;
}

static uint16_t read16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }

static uint32_t read32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return ntohl(value);
}

// Takes an IPv4 packet that comes from the phone.
static void count_flows(flow_counters *counters, const uint8_t *packet, int length) {
  if (length < 20 || packet[0] >> 4 != 4) return;
  int header = (packet[0] & 15) * 4;
  bool fragment = read16(packet + 6) & 0x1fff;
  if (fragment || length < header + 8) return;
  const uint8_t *segment = packet + header;
  flow f = {.source = read32(packet + 12), .destination = read32(packet + 16), .protocol = packet[9]};
  f.source_port = read16(segment);
  f.destination_port = read16(segment + 2);
  if (f.protocol == IPPROTO_TCP && length >= header + 20) {
    bool opens = (segment[13] & 0x12) == 0x02; // SYN without ACK
    f.first_sequence = read32(segment + 4);
    if (opens && flow_set_add(&counters->seen, &f)) counters->tcp_connections++;
  } else if (f.protocol == IPPROTO_UDP && f.destination_port == 53) {
    counters->dns_queries++;
  } else if (f.protocol == IPPROTO_UDP && f.destination_port == 443) {
    if (flow_set_add(&counters->seen, &f)) counters->quic_connections++;
  }
}
