// Facts about the arithmetic of a card, compared with the references here, which are those of the
// simulator (docs/sim.md): facts OUT.json [PART...]
//
// The parts run in a child process. If one fails or hangs, a new process goes on with the next
// part.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common.cuh"
struct State {
    int part, done, count;
    long off;
    double t0;
};
static State *st;
static int fd;
static double begin_time;
static const double LIMIT = 14, TOTAL = 50;  // seconds of a part, of all
double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
double part_left() {
    double a = st->t0 + LIMIT - 3 - now(), b = begin_time + TOTAL - 3 - now();
    return a < b ? a : b;
}
std::string fmt(const char *f, ...) {
    char b[8192];
    va_list a;
    va_start(a, f);
    vsnprintf(b, sizeof b, f, a);
    va_end(a);
    return b;
}
void fact(const char *part, const char *name, const char *fields, const char *text) {
    std::string s = std::string(st->count ? ",\n" : "\n") + "{\"part\":\"" + part +
                    "\",\"name\":\"" + name + "\"" + (*fields ? "," : "") + fields + "}";
    std::string w = s + "\n]}\n";
    if (pwrite(fd, w.data(), w.size(), st->off) < 0) perror("pwrite");
    st->off += (long)s.size();
    st->count++;
    printf("%-4s %-34s %s\n", part, name, text);
}
void die(const char *what, const char *file, int line) {
    fact("err", "cuda-error",
         fmt("\"what\":\"%s\",\"file\":\"%s\",\"line\":%d", what, file, line).c_str(),
         fmt("%s at %s:%d", what, file, line).c_str());
    fflush(stdout);
    _exit(7);
}
void part_mma_probe();
void part_mma_fit();
void part_approx();
void part_binary();
void part_half_approx();
void part_exact_cvt();
void part_exact_f32();
void part_exact_half();
void part_exact_int();
void part_f64();
void part_atomics();
void part_bounds();
void part_wgmma();
struct Part {
    const char *name;
    void (*run)();
};
static const Part parts[] = {{"mma_probe", part_mma_probe},
                             {"mma_fit", part_mma_fit},
                             {"approx", part_approx},
                             {"half_approx", part_half_approx},
                             {"binary", part_binary},
                             {"bounds", part_bounds},
                             {"exact_cvt", part_exact_cvt},
                             {"exact_f32", part_exact_f32},
                             {"exact_half", part_exact_half},
                             {"exact_int", part_exact_int},
                             {"atomics", part_atomics},
                             {"f64", part_f64},
                             {"wgmma", part_wgmma}};
static const int NP = sizeof parts / sizeof *parts;
int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: facts OUT.json [PART...]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    begin_time = now();
    fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) {
        perror(argv[1]);
        return 2;
    }
    st = (State *)mmap(NULL, sizeof *st, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    static const char head[] = "{\"facts\":[";
    if (pwrite(fd, head, sizeof head - 1, 0) < 0) perror("pwrite");
    st->off = sizeof head - 1;
    int bad = 0;
    for (int next = 0; next < NP && now() - begin_time < TOTAL - 2;) {
        st->done = next;
        st->part = next;
        st->t0 = now();
        fflush(stdout);
        pid_t pid = fork();
        if (!pid) {
            cudaDeviceProp p;
            int drv = 0, rt = 0;
            CK(cudaGetDeviceProperties(&p, 0));
            CK(cudaDriverGetVersion(&drv));
            CK(cudaRuntimeGetVersion(&rt));
            CK(cudaFree(0));
            fact("dev", "device",
                 fmt("\"device\":\"%s\",\"sm\":\"%d.%d\",\"driver\":%d,\"runtime\":%d", p.name,
                     p.major, p.minor, drv, rt)
                     .c_str(),
                 fmt("%s sm_%d%d driver %d runtime %d", p.name, p.major, p.minor, drv, rt).c_str());
            for (int i = next; i < NP; i++) {
                bool wanted = argc < 3;
                for (int k = 2; k < argc; k++) wanted = wanted || !strcmp(argv[k], parts[i].name);
                st->part = i;
                st->t0 = now();
                if (wanted) {
                    printf("---- %s (at %.1f s)\n", parts[i].name, now() - begin_time);
                    parts[i].run();
                    CK(cudaDeviceSynchronize());
                    fact("time", parts[i].name, fmt("\"seconds\":%.2f", now() - st->t0).c_str(),
                         fmt("%.2f s", now() - st->t0).c_str());
                }
                st->done = i + 1;
            }
            fflush(stdout);
            _exit(0);
        }
        int status = 0;
        for (;;) {
            pid_t r = waitpid(pid, &status, WNOHANG);
            if (r == pid) break;
            if (now() - st->t0 > LIMIT || now() - begin_time > TOTAL) {
                kill(pid, SIGKILL);
                waitpid(pid, &status, 0);
                fact("err", "part-killed", fmt("\"which\":\"%s\"", parts[st->part].name).c_str(),
                     parts[st->part].name);
                break;
            }
            usleep(10000);
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            next = st->done;
        else {
            bad++;
            fact("err", "part-failed",
                 fmt("\"which\":\"%s\",\"status\":%d", parts[st->part].name, status).c_str(),
                 parts[st->part].name);
            next = st->part + 1;
        }
    }
    fact("time", "total",
         fmt("\"seconds\":%.2f,\"failed_parts\":%d", now() - begin_time, bad).c_str(),
         fmt("%.2f s, %d parts failed", now() - begin_time, bad).c_str());
    return bad ? 1 : 0;
}
