/*
 * relay - carry Ethernet frames between two interfaces, late, and lose some.
 *
 *   relay IF1 IF2 DELAY_MS LOSS_PERCENT PIDFILE
 *
 * hosts-rig uses it for `delay` where the kernel has no netem.  Frames pass
 * with their virtio_net header, so segmentation and checksum offloads of the
 * two interfaces keep working and a frame may be larger than the MTU.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#define MAX_FRAME  (256 * 1024)
#define MAX_QUEUED (64L * 1024 * 1024)      /* bytes held in one direction */

struct frame {
    struct frame *next;
    uint64_t due;                           /* ns, CLOCK_MONOTONIC */
    size_t len;
    unsigned char data[];
};

struct queue {                              /* frames on their way out of `out` */
    struct frame *head, **tail;
    long bytes;
    int in, out;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int open_port(const char *name)
{
    int one = 1, size = 8 << 20;
    struct sockaddr_ll sa = { .sll_family = AF_PACKET,
                              .sll_protocol = htons(ETH_P_ALL),
                              .sll_ifindex = (int)if_nametoindex(name) };
    struct packet_mreq mr = { .mr_ifindex = sa.sll_ifindex, .mr_type = PACKET_MR_PROMISC };
    /* Protocol 0: nothing is received before bind() names the interface. */
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) fail("socket");
    if (!sa.sll_ifindex) fail(name);
    if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one)) fail("PACKET_VNET_HDR");
    if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one))
        fail("PACKET_IGNORE_OUTGOING");
    if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mr, sizeof mr)) fail("promiscuous mode");
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size)) fail("SO_RCVBUFFORCE");
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size)) fail("SO_SNDBUFFORCE");
    if (bind(fd, (struct sockaddr *)&sa, sizeof sa)) fail(name);
    return fd;
}

/* Take in what has arrived; it is due `delay` ns from now. */
static void take(struct queue *q, uint64_t delay, double loss)
{
    static unsigned char buf[MAX_FRAME];

    for (int burst = 0; burst < 64; burst++) {
        ssize_t n = recv(q->in, buf, sizeof buf, 0);
        if (n < 0)
            return;
        if ((loss > 0 && drand48() * 100 < loss) || q->bytes + n > MAX_QUEUED)
            continue;
        struct frame *f = malloc(sizeof *f + (size_t)n);
        if (!f)
            continue;
        f->next = NULL;
        f->due = now_ns() + delay;
        f->len = (size_t)n;
        memcpy(f->data, buf, (size_t)n);
        *q->tail = f;
        q->tail = &f->next;
        q->bytes += n;
    }
}

/* Send what is due. */
static void give(struct queue *q)
{
    while (q->head && q->head->due <= now_ns()) {
        struct frame *f = q->head;
        if (send(q->out, f->data, f->len, 0) < 0 && (errno == EAGAIN || errno == ENOBUFS))
            return;                         /* the interface is full; try again soon */
        q->head = f->next;
        if (!q->head)
            q->tail = &q->head;
        q->bytes -= (long)f->len;
        free(f);
    }
}

static void write_pidfile(const char *path)
{
    char line[1024], tmp[4096], *p;
    unsigned long long start;
    FILE *f = fopen("/proc/self/stat", "r");

    if (!f || !fgets(line, sizeof line, f) || !(p = strrchr(line, ')'))) fail("/proc/self/stat");
    fclose(f);
    if (sscanf(p + 2,
               "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &start) != 1) fail("start time");
    snprintf(tmp, sizeof tmp, "%s.new", path);
    if (!(f = fopen(tmp, "w"))) fail(tmp);
    fprintf(f, "%d %llu\n", (int)getpid(), start);
    if (fclose(f) || rename(tmp, path)) fail(path);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: relay IF1 IF2 DELAY_MS LOSS_PERCENT PIDFILE\n");
        return 2;
    }
    uint64_t delay = (uint64_t)(atof(argv[3]) * 1e6);
    double loss = atof(argv[4]);
    int a = open_port(argv[1]), b = open_port(argv[2]);
    struct queue q[2] = { { .in = a, .out = b }, { .in = b, .out = a } };

    q[0].tail = &q[0].head;
    q[1].tail = &q[1].head;
    srand48((long)now_ns());
    signal(SIGHUP, SIG_IGN);
    write_pidfile(argv[5]);

    for (;;) {
        struct pollfd p[2] = { { a, POLLIN, 0 }, { b, POLLIN, 0 } };
        uint64_t now = now_ns(), due = UINT64_MAX, wait;
        struct timespec t;

        for (int i = 0; i < 2; i++)
            if (q[i].head && q[i].head->due < due)
                due = q[i].head->due;
        /* A frame past its due time is waiting for room: look again in 50 us. */
        wait = due == UINT64_MAX ? 1000000000u : due > now ? due - now : 50000u;
        t.tv_sec = (time_t)(wait / 1000000000u);
        t.tv_nsec = (long)(wait % 1000000000u);
        if (ppoll(p, 2, &t, NULL) < 0 && errno != EINTR) fail("ppoll");
        for (int i = 0; i < 2; i++) {
            if (p[i].revents)
                take(&q[i], delay, loss);
            give(&q[i]);
        }
    }
}
