/* The other end of client benchmarks: an HTTP/1.1 server on one thread, so quick that the client is
 * the limit, whose answers tell when they were sent.
 *
 *   POST /json                            a chat completion, content-length
 *   POST /sse?events=N&interval_us=U      N events U microseconds apart, chunked, each with
 *                                         "sent_ns": CLOCK_MONOTONIC when it was written
 *   POST /tokens,first_us=F,interval_us=U,events=N,step_us=S,jitter_us=J/chat/completions
 *                                         a streamed chat completion: the first of N tokens F
 *                                         microseconds after the request, the others U apart. With
 *                                         S above 0 each token waits for the next multiple of S, as
 *                                         a server that batches sends those of all streams at once,
 *                                         and then for a random part of J
 *
 * Build: gcc -O2 -o server server.c. Prints its port, then serves 127.0.0.1 until stdin ends. Then
 * it prints a line for each chat completion that it streamed: CLOCK_MONOTONIC in ns when the
 * request was read, when the first token was written, and when the end was.
 * It trusts its clients: requests of up to 16 KiB, one at a time on a connection. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FDS = 20000, IN_BYTES = 16384, EVENTS_AT_ONCE = 512 };

typedef struct {
    char in[IN_BYTES];
    int in_length;
    char *out; /* what the socket would not take yet */
    size_t out_length, out_capacity;
    int events_left; /* of a stream that is under way */
    int events;
    int64_t interval_ns, step_ns, jitter_ns;
    int64_t asked_ns, first_ns; /* of a completion; asked_ns is 0 in other streams */
    int64_t due_ns; /* of its next token, before it waits for a step */
    uint32_t generation; /* tells this connection from an older one with the same descriptor */
} Connection;

typedef struct {
    int64_t due_ns;
    int fd;
    uint32_t generation;
} Timer;

typedef struct {
    int64_t asked_ns, first_ns, end_ns;
} Streamed;

static Connection *connections[MAX_FDS];
static Streamed *streamed;
static int streamed_count, streamed_capacity;
static uint32_t generations;
static Timer *timers; /* a binary heap, the earliest first */
static int timer_count, timer_capacity;
static int epoll_fd;

static const char COMPLETION[] =
    "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1760000000,"
    "\"model\":\"bench\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
    "\"content\":\"The answer is forty-two.\"},\"finish_reason\":\"stop\"}],"
    "\"usage\":{\"prompt_tokens\":17,\"completion_tokens\":12,\"total_tokens\":29}}";

static const char STREAM_HEAD[] = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                                  "transfer-encoding: chunked\r\n\r\n";

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void add_timer(Timer timer) {
    if (timer_count == timer_capacity) {
        timer_capacity = timer_capacity ? 2 * timer_capacity : 1024;
        timers = realloc(timers, timer_capacity * sizeof *timers);
        if (!timers) abort();
    }
    int place = timer_count++;
    while (place && timers[(place - 1) / 2].due_ns > timer.due_ns) {
        timers[place] = timers[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    timers[place] = timer;
}

static Timer take_timer(void) {
    Timer first = timers[0], last = timers[--timer_count];
    int place = 0;
    for (int child; (child = 2 * place + 1) < timer_count; place = child) {
        if (child + 1 < timer_count && timers[child + 1].due_ns < timers[child].due_ns) child++;
        if (timers[child].due_ns >= last.due_ns) break;
        timers[place] = timers[child];
    }
    timers[place] = last;
    return first;
}

static void drop(int fd) {
    close(fd);
    free(connections[fd]->out);
    free(connections[fd]);
    connections[fd] = NULL;
}

static void watch(int fd, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    epoll_ctl(epoll_fd, operation, fd, &event);
}

/* Send now, or keep what the socket does not take until it is writable. */
static void put(int fd, const char *bytes, size_t length) {
    Connection *c = connections[fd];
    ssize_t sent = 0;
    if (c->out_length == 0) {
        sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent == (ssize_t)length) return;
        if (sent < 0) sent = 0; /* a broken connection shows when it is read */
        watch(fd, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
    }
    size_t rest = length - sent;
    if (c->out_length + rest > c->out_capacity) {
        c->out_capacity = 2 * (c->out_length + rest);
        c->out = realloc(c->out, c->out_capacity);
        if (!c->out) abort();
    }
    memcpy(c->out + c->out_length, bytes + sent, rest);
    c->out_length += rest;
}

static void put_kept(int fd) {
    Connection *c = connections[fd];
    ssize_t sent = send(fd, c->out, c->out_length, MSG_NOSIGNAL);
    if (sent <= 0) return;
    memmove(c->out, c->out + sent, c->out_length - sent);
    c->out_length -= sent;
    if (!c->out_length) watch(fd, EPOLL_CTL_MOD, EPOLLIN);
}

static void answer_whole(int fd) {
    char answer[1024];
    int length = snprintf(answer, sizeof answer,
                          "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                          "content-length: %zu\r\n\r\n%s",
                          sizeof COMPLETION - 1, COMPLETION);
    put(fd, answer, length);
}

static void put_event(int fd) {
    char event[512], chunk[640];
    int length = snprintf(event, sizeof event,
                          "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\","
                          "\"created\":1760000000,\"model\":\"bench\",\"choices\":[{\"index\":0,"
                          "\"delta\":{\"content\":\" token\"},\"finish_reason\":null}],"
                          "\"sent_ns\":%lld}\n\n",
                          (long long)now_ns());
    length = snprintf(chunk, sizeof chunk, "%x\r\n%s\r\n", length, event);
    put(fd, chunk, length);
}

static const char *const TOKENS[] = {" the", " answer", " is", " forty", "-two", ",", " as", " ever"};

/* One token of a completion, as model servers write it; the first with the head before it. */
static void put_token(int fd, int nth) {
    char event[512], chunk[1024];
    int length = snprintf(event, sizeof event,
                          "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\","
                          "\"created\":1760000000,\"model\":\"bench\",\"choices\":[{\"index\":0,"
                          "\"delta\":{\"content\":\"%s\"},\"logprobs\":null,"
                          "\"finish_reason\":null}]}\n\n",
                          TOKENS[nth % 8]);
    length = snprintf(chunk, sizeof chunk, "%s%x\r\n%s\r\n", nth ? "" : STREAM_HEAD, length,
                      event);
    put(fd, chunk, length);
}

/* The end of a completion of `count` tokens: why it ended, and what it used. */
static void put_completion_end(int fd, int count) {
    char event[512], chunk[640];
    int length = snprintf(event, sizeof event,
                          "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\","
                          "\"created\":1760000000,\"model\":\"bench\",\"choices\":[{\"index\":0,"
                          "\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{"
                          "\"prompt_tokens\":17,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n"
                          "data: [DONE]\n\n",
                          count, count + 17);
    length = snprintf(chunk, sizeof chunk, "%x\r\n%s\r\n0\r\n\r\n", length, event);
    put(fd, chunk, length);
}

static void note_streamed(const Connection *c) {
    if (streamed_count == streamed_capacity) {
        streamed_capacity = streamed_capacity ? 2 * streamed_capacity : 4096;
        streamed = realloc(streamed, streamed_capacity * sizeof *streamed);
        if (!streamed) abort();
    }
    streamed[streamed_count++] = (Streamed){c->asked_ns, c->first_ns, now_ns()};
}

/* When the token that is due is sent: at the next step, and a random part of the jitter later. */
static int64_t sent_at(const Connection *c) {
    int64_t at = c->due_ns;
    if (c->step_ns) at = (at + c->step_ns - 1) / c->step_ns * c->step_ns;
    return c->jitter_ns ? at + random() % c->jitter_ns : at;
}

static int64_t parameter(const char *line, const char *name) {
    const char *found = strstr(line, name);
    return found ? atoll(found + strlen(name)) : 0;
}

/* Answer the request that is complete in `in`, if one is. */
static void handle(int fd) {
    Connection *c = connections[fd];
    c->in[c->in_length] = 0;
    char *end = strstr(c->in, "\r\n\r\n");
    if (!end || c->events_left) return;
    char *field = strcasestr(c->in, "\r\ncontent-length:");
    int whole = (int)(end - c->in) + 4 + (field && field < end ? atoi(field + 17) : 0);
    if (c->in_length < whole) return;
    char *line_end = strstr(c->in, "\r\n");
    *line_end = 0;
    if (strstr(c->in, "/sse?")) {
        put(fd, STREAM_HEAD, sizeof STREAM_HEAD - 1);
        c->asked_ns = 0;
        c->events_left = (int)parameter(c->in, "events=");
        c->interval_ns = 1000 * parameter(c->in, "interval_us=");
        add_timer((Timer){now_ns() + c->interval_ns, fd, c->generation});
    } else if (strstr(c->in, "/tokens,")) {
        c->asked_ns = now_ns();
        c->events = c->events_left = (int)parameter(c->in, "events=");
        c->interval_ns = 1000 * parameter(c->in, "interval_us=");
        c->step_ns = 1000 * parameter(c->in, "step_us=");
        c->jitter_ns = 1000 * parameter(c->in, "jitter_us=");
        c->due_ns = c->asked_ns + 1000 * parameter(c->in, "first_us=");
        add_timer((Timer){sent_at(c), fd, c->generation});
    } else {
        answer_whole(fd);
    }
    c->in_length -= whole;
    memmove(c->in, c->in + whole, c->in_length);
}

static void on_token_timer(Timer timer) {
    Connection *c = connections[timer.fd];
    int nth = c->events - c->events_left;
    if (!nth) c->first_ns = now_ns();
    put_token(timer.fd, nth);
    if (--c->events_left) {
        c->due_ns += c->interval_ns;
        add_timer((Timer){sent_at(c), timer.fd, timer.generation});
    } else {
        note_streamed(c);
        put_completion_end(timer.fd, c->events);
    }
}

static void on_timer(Timer timer) {
    Connection *c = connections[timer.fd];
    if (!c || c->generation != timer.generation) return;
    if (c->asked_ns) {
        on_token_timer(timer);
        return;
    }
    put_event(timer.fd);
    if (--c->events_left) {
        add_timer((Timer){timer.due_ns + c->interval_ns, timer.fd, timer.generation});
    } else {
        static const char LAST[] = "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
        put(timer.fd, LAST, sizeof LAST - 1);
    }
}

static void accept_all(int listener) {
    int fd, one = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (fd >= MAX_FDS) {
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        connections[fd] = calloc(1, sizeof(Connection));
        if (!connections[fd]) abort();
        connections[fd]->generation = ++generations;
        watch(fd, EPOLL_CTL_ADD, EPOLLIN);
    }
}

static void on_ready(int fd, uint32_t events) {
    Connection *c = connections[fd];
    if (!c) return;
    if (events & EPOLLOUT) put_kept(fd);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
    ssize_t got = recv(fd, c->in + c->in_length, IN_BYTES - 1 - c->in_length, 0);
    if (got > 0) {
        c->in_length += got;
        handle(fd);
    } else if (got == 0 || errno != EAGAIN) {
        drop(fd);
    }
}

static int listening(void) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (void *)&address, length) || listen(listener, 4096) ||
        getsockname(listener, (void *)&address, &length)) {
        perror("listening on 127.0.0.1");
        exit(1);
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static void print_streamed(void) {
    for (int i = 0; i < streamed_count; i++) {
        printf("%lld %lld %lld\n", (long long)streamed[i].asked_ns,
               (long long)streamed[i].first_ns, (long long)streamed[i].end_ns);
    }
}

int main(void) {
    int listener = listening();
    epoll_fd = epoll_create1(0);
    watch(listener, EPOLL_CTL_ADD, EPOLLIN);
    watch(STDIN_FILENO, EPOLL_CTL_ADD, EPOLLIN);
    struct epoll_event ready[EVENTS_AT_ONCE];
    for (;;) {
        struct timespec wait = {0}, *timeout = NULL;
        if (timer_count) {
            int64_t left_ns = timers[0].due_ns - now_ns();
            if (left_ns > 0) wait = (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
            timeout = &wait;
        }
        int count = epoll_pwait2(epoll_fd, ready, EVENTS_AT_ONCE, timeout, NULL);
        for (int i = 0; i < count; i++) {
            int fd = ready[i].data.fd;
            if (fd == STDIN_FILENO) {
                print_streamed();
                return 0;
            }
            if (fd == listener) accept_all(listener);
            else on_ready(fd, ready[i].events);
        }
        for (int64_t now = now_ns(); timer_count && timers[0].due_ns <= now;)
            on_timer(take_timer());
    }
}
