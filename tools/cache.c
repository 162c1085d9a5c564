// tilec cache ls|clear|verify: shows, removes or checks the compiled kernels on disk.
#include "compile/jit/cache.h"

#include <stdio.h>
#include <time.h>

#include "tools/cli.h"

static const CliOption options[] = {
    {"folder", "DIR", "this folder instead of the user's own", false},
};

typedef struct Shown {
    Cli *cli;
    Str path;
    OsFolder *folder;  // NULL: the folder does not exist yet
    CacheRows rows;
    uint64_t bytes;
} Shown;

static int io_failed(Shown *s, const OsError *error) {
    return cli_fail(s->cli, EXIT_INPUT, DIAG_IO, NULL, "cannot use the folder '%.*s': %s",
                    STR_ARG(s->path), error->text);
}

static void facts_json(Shown *s) {
    Json *j = &s->cli->json_out;
    json_key(j, "folder"), json_str(j, s->path);
    json_key(j, "entries"), json_uint(j, s->rows.count);
    json_key(j, "bytes"), json_uint(j, s->bytes);
}

static const char *entries(uint64_t count) { return count == 1 ? "entry" : "entries"; }

static double mebibytes(uint64_t bytes) { return (double)bytes / (1 << 20); }

static void list(Shown *s) {
    Json *j = &s->cli->json_out;
    json_key(j, "kernels"), json_open(j, '[');
    for (size_t i = 0; i < s->rows.count; i++) {
        const CacheRow *row = &s->rows.data[i];
        char hex[HASH_HEX + 1], when[32] = "";
        hash_hex(&row->key, hex);
        time_t seconds = (time_t)(row->used_ns / 1000000000);
        const struct tm *utc = gmtime(&seconds);
        if (utc) strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", utc);
        json_open(j, '{');
        json_key(j, "key"), json_str(j, str(hex));
        json_key(j, "kind"), json_str(j, str(cache_kind_name(row->kind)));
        json_key(j, "bytes"), json_uint(j, row->size);
        json_key(j, "used"), json_str(j, str(when));
        json_close(j, '}');
        if (!s->cli->json)
            printf("%.16s %-5s %9llu bytes, used %s\n", hex, cache_kind_name(row->kind),
                   (unsigned long long)row->size, when);
    }
    json_close(j, ']');
    if (!s->cli->json)
        printf("%zu %s, %.1f MiB in %.*s\n", s->rows.count, entries(s->rows.count),
               mebibytes(s->bytes), STR_ARG(s->path));
}

// Only this command reports damaged entries; a compilation just replaces them.
static int verify(Shown *s) {
    size_t wrong = 0;
    Json *j = &s->cli->json_out;
    json_key(j, "damaged"), json_open(j, '[');
    for (size_t i = 0; i < s->rows.count; i++) {
        CacheRow *row = &s->rows.data[i];
        cache_check(s->folder, s->cli->arena, row);
        if (row->whole) continue;
        char hex[HASH_HEX + 1];
        hash_hex(&row->key, hex);
        wrong++;
        json_open(j, '{');
        json_key(j, "key"), json_str(j, str(hex));
        json_key(j, "why"), json_str(j, row->why);
        json_close(j, '}');
        if (!s->cli->json) printf("%.16s is damaged: %.*s\n", hex, STR_ARG(row->why));
    }
    json_close(j, ']');
    if (!s->cli->json)
        printf("%zu %s, %zu damaged, in %.*s\n", s->rows.count, entries(s->rows.count), wrong,
               STR_ARG(s->path));
    if (!wrong) return EXIT_OK;
    return cli_fail(s->cli, EXIT_MISMATCH, DIAG_MISMATCH, "compiling replaces damaged ones",
                    "%zu of %zu %s %s damaged", wrong, s->rows.count, entries(s->rows.count),
                    wrong == 1 ? "is" : "are");
}

static int clear(Shown *s) {
    uint64_t files = 0, bytes = 0;
    OsError error;
    if (s->folder && !cache_clear(s->folder, s->cli->arena, &files, &bytes, &error))
        return io_failed(s, &error);
    Json *j = &s->cli->json_out;
    json_key(j, "removed"), json_uint(j, files);
    if (!s->cli->json)
        printf("removed %llu %s, %.1f MiB, from %.*s\n", (unsigned long long)files, entries(files),
               mebibytes(bytes), STR_ARG(s->path));
    return EXIT_OK;
}

static int look(Shown *s) {
    bool missing;
    OsError error;
    s->folder = cache_folder_open(s->cli->arena, s->path, &missing, &error);
    if (!s->folder && !missing) return io_failed(s, &error);
    if (s->folder && !cache_list(s->folder, s->cli->arena, &s->rows, &error))
        return io_failed(s, &error);
    for (size_t i = 0; i < s->rows.count; i++) s->bytes += s->rows.data[i].size;
    return EXIT_OK;
}

static int run(Cli *cli) {
    Str what = cli->operands.data[0];
    bool listing = str_equal(what, STR("ls")), verifying = str_equal(what, STR("verify"));
    if (!listing && !verifying && !str_equal(what, STR("clear")))
        return cli_usage_error(cli, "tilec cache takes ls, clear or verify, found '%.*s'",
                               STR_ARG(what));
    const char *folder = cli_has(cli, "folder") ? cli_text(cli, cli_value(cli, "folder")) : NULL;
    Shown s = {.cli = cli, .path = cache_folder_path(cli->arena, folder)};
    if (!s.path.size)
        return cli_fail(cli, EXIT_UNAVAILABLE, DIAG_UNAVAILABLE,
                        "TILEC_CACHE=off turns it off; TILEC_CACHE_DIR names a folder",
                        "there is no cache here");
    int status = look(&s);
    if (!status && (listing || verifying)) facts_json(&s);
    if (!status && listing) list(&s);
    if (!status && verifying) status = verify(&s);
    if (!status && !listing && !verifying) status = clear(&s);
    os_folder_close(s.folder);
    return status;
}

const CliCommand command_cache = {
    .name = "cache",
    .usage = "ls|clear|verify [options]",
    .summary = "the compiled kernels that are kept on disk",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
