#include "lib/l7/http1/host.hpp"
#include "lib/l7/http1/line_walk.hpp"
#include "lib/l7/http1/path.hpp"
#include "lib/l7/http1/request_head.hpp"
#include "tests/bench/http_heads.hpp"
#include "tests/bench/rounds.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <llhttp.h>
#include <x86intrin.h>

// Heads of GET requests: what finding and reading one costs beside finding the line ends of the
// same bytes with memchr(), and beside llhttp. Prints one JSON object a line, and to standard error
// the cycles of the parts.
namespace sluice::bench {
namespace {

using Heads = std::vector<std::string>;

// Of the heads of a kind together: as many as a cache of the second level has room for, since
// packets come into one, and enough that no branch is learnt.
constexpr std::size_t kBytes = std::size_t{3} << 18;
constexpr std::size_t kMostHeads = 2048;

std::size_t counted = 0;  // so that nothing is left out

Heads make_heads(const HeadKind& kind) {
    std::mt19937_64 random{3};
    Heads heads;
    for (std::size_t bytes = 0; bytes < kBytes && heads.size() < kMostHeads;) {
        heads.push_back(kind.make(random));
        bytes += heads.back().size();
    }
    return heads;
}

std::size_t mean_size(const Heads& heads) {
    std::size_t bytes = 0;
    for (const std::string& head : heads) {
        bytes += head.size();
    }
    return bytes / heads.size();
}

// What the rules of a set want.
WantedHeaders some_names() {
    return *WantedHeaders::make({"user-agent", "referer", "x-forwarded-for", "authorization"},
                                {"sid"});
}
WantedHeaders no_names() {
    return *WantedHeaders::make({}, {});
}

class Parsing {
public:
    explicit Parsing(WantedHeaders wanted) : wanted_{std::move(wanted)} {}

    void parse(const std::string& bytes) {
        parse_any(bytes);
        if (!head_.shapes.empty()) {
            std::abort();
        }
    }
    void parse_any(const std::string& bytes) {
        if (parse_request_head(bytes_of(bytes), {wanted_}, room_, head_) != HeadStatus::Complete) {
            std::abort();
        }
        counted += head_.path.size() + head_.host.size();
    }
    // Of a head that has been found.
    void read(const std::string& bytes) {
        read_request_head(bytes_of(bytes), wanted_, room_, head_);
        counted += head_.path.size() + head_.host.size();
    }
    void read_texts() {
        HeadShapes shapes;
        counted += normalise_path(path_, room_, shapes).size();
        counted += normalise_host(host_, room_, shapes).size();
    }
    void keep_texts() {
        path_ = head_.path;
        host_ = head_.host;
    }

private:
    WantedHeaders wanted_;
    std::vector<std::byte> room_ = std::vector<std::byte>(4096);
    RequestHead head_;
    ByteView path_;
    ByteView host_;
};

void find(const std::string& bytes) {
    HeadFinder finder;
    counted += finder.find(bytes_of(bytes)) == HeadStatus::Complete ? finder.size() : 0;
}
void find_lines(const std::string& bytes) {
    counted += http1::LineWalk{bytes_of(bytes)}.head_size();
}
void find_lines_with_memchr(const std::string& bytes) {
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    while (const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
        at = static_cast<const char*>(found) + 1;
        ++counted;
    }
}

class Llhttp {
public:
    Llhttp() {
        llhttp_settings_init(&settings_);
        settings_.on_header_value = [](llhttp_t*, const char*, std::size_t size) {
            counted += size;
            return 0;
        };
    }
    void parse(const std::string& bytes) {
        llhttp_t parser;
        llhttp_init(&parser, HTTP_REQUEST, &settings_);
        if (llhttp_execute(&parser, bytes.data(), bytes.size()) != HPE_OK) {
            std::abort();
        }
    }

private:
    llhttp_settings_t settings_{};
};

void print(const std::string& what, const Side& ours, const Side& other) {
    std::printf(
        "{\"id\": \"H0\", \"case\": \"%s\", \"value\": %.1f, \"unit\": \"ns\", \"reference\": "
        "\"%s\", \"reference_value\": %.1f, \"ratio\": %.3f, \"rounds\": %s}\n",
        what.c_str(), ours.median(), other.name.c_str(), other.median(),
        ours.median() / other.median(), list_of(ours.rounds).c_str());
}

// Cycles of the time-stamp counter for each head; the least of a few rounds.
template <typename Work>
double cycles_of(const Heads& heads, Work&& work) {
    double least = 1e18;
    for (int round = 0; round < 9; ++round) {
        const std::uint64_t start = __rdtsc();
        for (const std::string& head : heads) {
            work(head);
        }
        const auto ticks = static_cast<double>(__rdtsc() - start);
        least = std::min(least, ticks / static_cast<double>(heads.size()));
    }
    return least;
}

void print_parts(std::string_view name, const Heads& heads) {
    Parsing some{some_names()};
    Parsing none{no_names()};
    const auto texts = [&](const std::string& head) {
        some.read(head);
        some.keep_texts();
        some.read_texts();
    };
    const double read = cycles_of(heads, [&](const std::string& head) { some.read(head); });
    std::fprintf(stderr,
                 "  H0 cycles of the time-stamp counter, %.*s: found and read %.0f; HeadFinder "
                 "alone %.0f, the pass for lines alone %.0f, reading what was found %.0f, and "
                 "without wanted names %.0f, path and host once more %.0f\n",
                 static_cast<int>(name.size()), name.data(),
                 cycles_of(heads, [&](const std::string& head) { some.parse(head); }),
                 cycles_of(heads, find), cycles_of(heads, find_lines), read,
                 cycles_of(heads, [&](const std::string& head) { none.read(head); }),
                 cycles_of(heads, texts) - read);
}

void measure(const HeadKind& kind, bool quick) {
    const Heads heads = make_heads(kind);
    Parsing some{some_names()};
    Parsing none{no_names()};
    Llhttp llhttp;
    const std::size_t repeats = std::max<std::size_t>(1, (quick ? 8'192 : 32'768) / heads.size());
    const auto each = [&](auto&& work) {
        return cpu_ns_per(heads.size() * repeats, [&] {
            for (std::size_t i = 0; i < repeats; ++i) {
                for (const std::string& head : heads) {
                    work(head);
                }
            }
        });
    };
    std::vector<Side> sides{
        {"parsed", [&] { return each([&](const std::string& head) { some.parse(head); }); }},
        {"no wanted names",
         [&] { return each([&](const std::string& head) { none.parse(head); }); }},
        {"memchr of its line ends", [&] { return each(find_lines_with_memchr); }},
        {"llhttp", [&] { return each([&](const std::string& head) { llhttp.parse(head); }); }}};
    run_rounds(sides, quick ? 5 : 9);
    const std::string what = "the head of a GET, " + std::string{kind.name} + ", " +
                             std::to_string(mean_size(heads)) + " bytes";
    print(what, sides[0], sides[2]);
    print(what, sides[0], sides[3]);
    print(what + ", rules that name none", sides[1], sides[3]);
    print_parts(kind.name, heads);
}

// The most that one head can cost.
void measure_hostile(const HeadKind& kind, bool quick) {
    const Heads heads = make_heads(kind);
    Parsing parsing{some_names()};
    const std::size_t repeats = std::max<std::size_t>(1, (quick ? 512 : 2'048) / heads.size());
    const auto each = [&](auto&& work) {
        return cpu_ns_per(heads.size() * repeats, [&] {
            for (std::size_t i = 0; i < repeats; ++i) {
                for (const std::string& head : heads) {
                    work(head);
                }
            }
        });
    };
    std::vector<Side> sides{
        {"parsed", [&] { return each([&](const std::string& head) { parsing.parse_any(head); }); }},
        {"memchr of its line ends", [&] { return each(find_lines_with_memchr); }}};
    run_rounds(sides, quick ? 5 : 9);
    print("a hostile head, " + std::string{kind.name} + ", " + std::to_string(mean_size(heads)) +
              " bytes",
          sides[0], sides[1]);
    std::fprintf(stderr, "  H0 cycles of the time-stamp counter, %.*s: the pass for lines %.0f\n",
                 static_cast<int>(kind.name.size()), kind.name.data(),
                 cycles_of(heads, find_lines));
}

int run(bool quick) {
    for (const HeadKind& kind : head_kinds()) {
        measure(kind, quick);
    }
    for (const HeadKind& kind : hostile_head_kinds()) {
        measure_hostile(kind, quick);
    }
    std::fprintf(stderr, "%zu counted\n", counted);
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    bool quick = false;
    for (int i = 1; i < count; ++i) {
        quick = quick || std::string_view{arguments[i]} == "--quick";
    }
    return sluice::bench::run(quick);
}
