// The floor of a crowd's cost: thousands of connections on one thread with epoll, each a find of one document by _id; what a load tester
// adds on top of this, in time, CPU and memory, is its own.
// build: cc -O2 -o crowd crowd.c -lm      run: crowd PORT CONNECTIONS RATE SECONDS [THINK_MS]
// RATE operations a second in all, each due at a time of its own (open loop): the connection that has been free longest takes the next one.
// With RATE 0 each connection thinks THINK_MS between a reply and its next operation (closed loop).
// CROWD_NS=db.collection (default mongoperf.crowd): its first 10,000 _ids are asked for at random. CROWD_WARMUP: seconds before those that
// count (default 2). Prints one line; times in microseconds: response (since it was due), service (since it was sent), late
// (how long after it was due it was sent).
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_IDS = 10000, IN = 1 << 20, EVENTS = 256, OPENINGS = 64, MESSAGE = 512 };
static const int64_t SECOND = 1000000000, GRACE = 50000000;
static struct sockaddr_in server;
static int poll_fd;
static uint8_t in[IN];

static void die(const char *what) { perror(what); exit(1); }
static int64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * SECOND + t.tv_nsec; }
static double cpu(struct timeval user, struct timeval system) {
  return user.tv_sec + system.tv_sec + (user.tv_usec + system.tv_usec) / 1e6;
}

// --- Messages ---
typedef struct { uint8_t b[MESSAGE]; int n; } Message;
static void put(Message *m, const void *p, size_t n) {
  if (m->n + n > MESSAGE) { fprintf(stderr, "a message is too long\n"); exit(1); }
  memcpy(m->b + m->n, p, n); m->n += n;
}
static void put_int(Message *m, int32_t v) { put(m, &v, 4); }
static void put_name(Message *m, uint8_t type, const char *name) { put(m, &type, 1); put(m, name, strlen(name) + 1); }
static void put_number(Message *m, const char *name, int32_t v) { put_name(m, 0x10, name); put_int(m, v); }
static void put_text(Message *m, const char *name, const char *v) {
  put_name(m, 2, name); put_int(m, strlen(v) + 1); put(m, v, strlen(v) + 1);
}
static int begin(Message *m) { put_int(m, 0); return m->n - 4; }
static void end(Message *m, int at) { put(m, "", 1); int32_t n = m->n - at; memcpy(m->b + at, &n, 4); }
static int begin_command(Message *m) {
  int32_t header[5] = {0, 1, 0, 2013, 0};
  m->n = 0; put(m, header, sizeof header); put(m, "", 1); return begin(m);
}
static void end_command(Message *m, int at, const char *db) { put_text(m, "$db", db); end(m, at); memcpy(m->b, &m->n, 4); }
static void must_be_ok(int n) {
  int tail = n > 600 ? n - 600 : 16;
  if (!memmem(in + tail, n - tail, "ok\0\0\0\0\0\0\0\xf0\x3f", 11)) { fwrite(in + 20, 1, n < 600 ? n - 20 : 580, stderr); exit(2); }
}

// The _ids of a collection, of any type, each as the message that asks for it.
static Message *finds; static int find_count;
static void prepare(const char *db, const char *collection) {
  int s = socket(AF_INET, SOCK_STREAM, 0); Message m;
  if (connect(s, (void *)&server, sizeof server)) die("connect");
  int c = begin_command(&m); put_text(&m, "find", collection); put_name(&m, 3, "projection");
  int p = begin(&m); put_number(&m, "_id", 1); end(&m, p);
  put_number(&m, "batchSize", MOST_IDS); put_number(&m, "limit", MOST_IDS); put_name(&m, 8, "singleBatch"); put(&m, "\1", 1);
  end_command(&m, c, db);
  if (send(s, m.b, m.n, 0) != m.n) die("send");
  int32_t n = 4, got = 0;
  while (got < n) {
    int k = recv(s, in + got, IN - got, 0);
    if (k <= 0) die("recv");
    if ((got += k) >= 4) memcpy(&n, in, 4);
  }
  close(s); must_be_ok(n);
  uint8_t *at = memmem(in, n, "firstBatch", 11);
  if (!at) { fprintf(stderr, "no documents in %s.%s\n", db, collection); exit(2); }
  int32_t list; memcpy(&list, at += 11, 4);
  finds = calloc(MOST_IDS, sizeof *finds);
  for (uint8_t *d = at + 4, *last = at + list - 1; d < last; find_count++) {
    int32_t size; d += 1 + strlen((char *)d + 1) + 1; memcpy(&size, d, 4);
    Message *f = &finds[find_count];
    c = begin_command(f); put_text(f, "find", collection); put_name(f, 3, "filter");
    p = begin(f); put(f, d + 4, size - 5); end(f, p);
    put_number(f, "limit", 1); put_name(f, 8, "singleBatch"); put(f, "\1", 1); end_command(f, c, db);
    d += size;
  }
  if (!find_count) { fprintf(stderr, "no documents in %s.%s\n", db, collection); exit(2); }
}

// --- Durations, in the buckets of src/MongoPerf.Measurement/LatencyHistogram.cs ---
typedef struct { int64_t counts[27 << 10], total; } Histogram;
static void record(Histogram *h, int64_t ns) {
  if (ns < 0) ns = 0;
  int bucket = 47 - __builtin_clzll(ns | (2047LL << 6));
  h->counts[((bucket + 1) << 10) + (int)(ns >> (bucket + 6)) - 1024]++; h->total++;
}
static double percentile(const Histogram *h, double percent) {
  int64_t rank = ceil(h->total * percent / 100), seen = 0;
  for (int i = 0; i < 27 << 10; i++)
    if ((seen += h->counts[i]) >= rank && seen) {
      int bucket = (i >> 10) > 1 ? (i >> 10) - 1 : 0;
      return ((((int64_t)i - (bucket << 10)) << (bucket + 6)) + (1LL << (bucket + 6)) - 1) / 1e3;
    }
  return 0;
}
static void print(const char *name, const Histogram *h) {
  printf("; %s p50 %.1f p99 %.1f p99.9 %.1f", name, percentile(h, 50), percentile(h, 99), percentile(h, 99.9));
}

// --- Connections ---
typedef struct { int fd; int32_t length, got; int64_t due, start; } Connection;
static Connection *all; static int count;
static void open_next(int i) {
  Connection *c = &all[i]; int one = 1;
  if ((c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) < 0) die("socket");
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect(c->fd, (void *)&server, sizeof server) && errno != EINPROGRESS) die("connect");
  if (epoll_ctl(poll_fd, EPOLL_CTL_ADD, c->fd, &(struct epoll_event){EPOLLOUT | EPOLLET, {.u32 = i}})) die("epoll_ctl");
}
// 1 when the whole reply is there.
static int receive(Connection *c) {
  int n = recv(c->fd, in, IN, 0);
  if (n < 0 && errno == EAGAIN) return 0;
  if (n <= 0) die("recv");
  if (!c->got) memcpy(&c->length, in, 4);
  if ((c->got += n) < c->length) return 0;
  if (c->got == n) must_be_ok(n);
  c->got = 0; return 1;
}
static void open_all(void) {
  Message hello; int c = begin_command(&hello); put_number(&hello, "hello", 1); end_command(&hello, c, "admin");
  struct epoll_event ready[EVENTS]; int begun = 0, open = 0;
  while (begun < count && begun < OPENINGS) open_next(begun++);
  while (open < count)
    for (int k = 0, n = epoll_wait(poll_fd, ready, EVENTS, -1); k < n; k++) {
      int i = ready[k].data.u32, error = 0; socklen_t size = sizeof error;
      if (ready[k].events & EPOLLIN) {
        if (!receive(&all[i])) continue;
        open++;
        if (begun < count) open_next(begun++);
        continue;
      }
      getsockopt(all[i].fd, SOL_SOCKET, SO_ERROR, &error, &size);
      if (error) { errno = error; die("connect"); }
      if (send(all[i].fd, hello.b, hello.n, MSG_NOSIGNAL) != hello.n) die("send");
      epoll_ctl(poll_fd, EPOLL_CTL_MOD, all[i].fd, &(struct epoll_event){EPOLLIN | EPOLLET, {.u32 = i}});
    }
}

// --- Waiting: asleep until shortly before a time, then awake, as ShortSleep does; how much before it learns (98th percentile) ---
static double lead = 60000; static int64_t spun;
static int wait_until(int64_t at, struct epoll_event *ready) {
  int64_t before = now(), nap = at - before - (int64_t)lead;
  if (nap < 10000) {
    int n = epoll_wait(poll_fd, ready, EVENTS, 0);
    if (!n) spun += now() - before;
    return n;
  }
  int n = epoll_pwait2(poll_fd, ready, EVENTS, &(struct timespec){nap / SECOND, nap % SECOND}, 0);
  if (n < 0 && errno != EINTR) die("epoll_pwait2");
  if (!n) lead = fmin(60000, fmax(10000, lead + (now() - before - nap > lead ? 4900 : -100)));
  return n < 0 ? 0 : n;
}

// Not ru_maxrss: that begins with what the program that started this one had.
static long peak_kilobytes(void) {
  char line[256]; long kilobytes = 0; FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &kilobytes);
  if (status) fclose(status);
  return kilobytes;
}

int main(int arguments, char **v) {
  if (arguments < 5) { fprintf(stderr, "crowd PORT CONNECTIONS RATE SECONDS [THINK_MS]\n"); return 64; }
  count = atoi(v[2]); double rate = atof(v[3]), seconds = atof(v[4]); int64_t think = arguments > 5 ? atof(v[5]) * 1e6 : 0;
  double warmup = getenv("CROWD_WARMUP") ? atof(getenv("CROWD_WARMUP")) : 2;
  char ns[256] = "mongoperf.crowd";
  if (getenv("CROWD_NS")) snprintf(ns, sizeof ns, "%s", getenv("CROWD_NS"));
  char *dot = strchr(ns, '.');
  if (!dot || count < 1 || (rate <= 0) != (think > 0)) {
    fprintf(stderr, "CROWD_NS is DB.COLLECTION; connections are needed, and a rate or a pause\n"); return 64;
  }
  *dot = 0; prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  struct rlimit most; getrlimit(RLIMIT_NOFILE, &most); most.rlim_cur = most.rlim_max; setrlimit(RLIMIT_NOFILE, &most);
  server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(v[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  prepare(ns, dot + 1);
  poll_fd = epoll_create1(0); all = calloc(count, sizeof *all);
  int64_t opening = now(); open_all(); double opened = (now() - opening) / 1e9;

  // With a rate the line of free connections; else the line of those that think, whose times are in the same order.
  int *line = malloc(count * sizeof *line), first = 0, waiting = count;
  for (int i = 0; i < count; i++) line[i] = i;
  static Histogram response, service, lateness; struct epoll_event ready[EVENTS]; struct rusage at_measure, at_end;
  int64_t start = now(), measure = start + warmup * 1e9, last = measure + seconds * 1e9, started = 0, done = 0, out = 0, spun_before = 0;
  for (int i = 0; i < count; i++) all[i].due = start;
  uint64_t random = 88172645463325252ULL ^ (uint64_t)start; int measures = 0;
  while (1) {
    int64_t t = now();
    if (!measures && t >= measure) { measures = 1; getrusage(RUSAGE_SELF, &at_measure); spun_before = spun; }
    int64_t due = 0; int may = t < last + GRACE;
    for (int sent = 0; waiting && may && sent < 8; sent++) {
      Connection *c = &all[line[first]];
      due = rate > 0 ? start + llround(started / rate * 1e9) : c->due;
      if (due > t || due >= last) break;
      first = (first + 1) % count; waiting--; out++; started++;
      random ^= random << 13; random ^= random >> 7; random ^= random << 17;
      Message *f = &finds[random % find_count];
      c->due = due; c->start = now();
      if (send(c->fd, f->b, f->n, MSG_NOSIGNAL) != f->n) die("send");
    }
    if ((t >= last && !out) || t > last + 60 * SECOND) break;
    int64_t until = t >= last ? t + 10000000 : last;
    if (waiting && may) {
      due = rate > 0 ? start + llround(started / rate * 1e9) : all[line[first]].due;
      if (due < until) until = due;
    }
    int n = wait_until(until, ready);
    for (int k = 0; k < n; k++) {
      Connection *c = &all[ready[k].data.u32];
      if (!receive(c)) continue;
      int64_t e = now();
      out--; line[(first + waiting++) % count] = ready[k].data.u32;
      if (e > measure) {
        done++; record(&service, e - c->start); record(&response, e - c->due); record(&lateness, c->start - c->due);
      }
      c->due = e + think;
    }
  }
  getrusage(RUSAGE_SELF, &at_end);
  int64_t skipped = rate > 0 ? (int64_t)ceil((last - start) / 1e9 * rate) - started : 0;
  double user = cpu(at_end.ru_utime, (struct timeval){0}) - cpu(at_measure.ru_utime, (struct timeval){0});
  double system = cpu(at_end.ru_stime, (struct timeval){0}) - cpu(at_measure.ru_stime, (struct timeval){0});
  double each = 1e6 / (done ? done : 1);
  printf("%.0f ops/s, %ld operations, %ld skipped", done / seconds, (long)done, (long)(skipped > 0 ? skipped : 0));
  if (rate > 0) print("response", &response);
  print("service", &service); print("late", &lateness);
  printf("; client cpu %.2f us/op, user %.2f, system %.2f, spinning %.2f; %ld kB; opened in %.3f s\n", (user + system) * each,
    user * each, system * each, (spun - spun_before) / 1e9 * each, peak_kilobytes(), opened);
  return 0;
}
