// The floor of a proxy's cost: passes bytes on between two sockets, and does nothing else; what 'record --listen' adds on top is its own.
// build: cc -O2 -pthread -o proxy proxy.c      run: proxy LISTEN_PORT SERVER_PORT [epoll]
// A thread for each direction of a connection, which waits in recv; with epoll one thread for both.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
enum { BUFFER = 1 << 16 };
static struct sockaddr_in server = {.sin_family = AF_INET};
static int uses_epoll;
typedef struct { int from, to; } Way;

// 0 when nothing more comes, or one side has gone.
static int pass_one(Way w, char *buffer) {
  ssize_t n = recv(w.from, buffer, BUFFER, 0);
  for (ssize_t at = 0; at < n;) {
    ssize_t k = send(w.to, buffer + at, n - at, MSG_NOSIGNAL);
    if (k <= 0) n = 0; else at += k;
  }
  if (n <= 0) shutdown(w.to, SHUT_WR);
  return n > 0;
}
static void *pass(void *way) {
  Way w = *(Way *)way; char *buffer = malloc(BUFFER);
  while (pass_one(w, buffer)) {}
  free(buffer); return 0;
}
static void pass_both(Way ways[2]) {
  int e = epoll_create1(0); char *buffer = malloc(BUFFER); struct epoll_event ready[2];
  for (int i = 0; i < 2; i++) epoll_ctl(e, EPOLL_CTL_ADD, ways[i].from, &(struct epoll_event){EPOLLIN, {.u32 = i}});
  for (int open = 2; open;)
    for (int i = 0, n = epoll_wait(e, ready, 2, -1); i < n; i++) {
      Way w = ways[ready[i].data.u32];
      if (!pass_one(w, buffer)) { epoll_ctl(e, EPOLL_CTL_DEL, w.from, 0); open--; }
    }
  close(e); free(buffer);
}
static void *serve(void *accepted) {
  int c = (int)(long)accepted, s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one); setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect(s, (void *)&server, sizeof server)) perror("connect");
  else {
    Way ways[2] = {{c, s}, {s, c}}; pthread_t replies;
    if (uses_epoll) pass_both(ways);
    else { pthread_create(&replies, 0, pass, &ways[1]); pass(&ways[0]); pthread_join(replies, 0); }
  }
  close(c); close(s); return 0;
}
int main(int count, char **arguments) {
  if (count < 3) { fprintf(stderr, "proxy LISTEN_PORT SERVER_PORT [epoll]\n"); return 64; }
  uses_epoll = count > 3; server.sin_port = htons(atoi(arguments[2])); server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  struct sockaddr_in own = server; own.sin_port = htons(atoi(arguments[1])); int l = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(l, (void *)&own, sizeof own) || listen(l, 512)) { perror("listen"); return 1; }
  for (int c; (c = accept(l, 0, 0)) >= 0;) { pthread_t t; pthread_create(&t, 0, serve, (void *)(long)c); pthread_detach(t); }
}
