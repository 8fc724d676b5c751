#include "lib/l7/http1/request_head.hpp"
#include "tests/bench/rounds.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <llhttp.h>

// Heads of GET requests, about 300 bytes and 12 headers each: what parsing one costs beside finding
// the line ends of the same bytes with memchr(), and beside llhttp. Prints one JSON object a line.
namespace sluice::bench {
namespace {

constexpr std::size_t kHeads = 4096;

std::string word(std::mt19937_64& random, std::size_t least, std::size_t spread) {
    std::string text;
    for (std::size_t left = least + random() % spread; left > 0; --left) {
        text += static_cast<char>('a' + random() % 26);
    }
    return text;
}

// No two of one length line by line, so that no branch is learnt.
std::string make_head(std::mt19937_64& random) {
    return "GET /" + word(random, 3, 8) + "/" + word(random, 3, 8) + "?id=" + word(random, 2, 6) +
           " HTTP/1.1\r\nHost: " + word(random, 3, 8) +
           ".example\r\nUser-Agent: " + word(random, 12, 12) +
           "\r\nAccept: */*\r\nAccept-Language: en\r\nReferer: /" + word(random, 5, 8) +
           "\r\nConnection: keep-alive\r\nDNT: 1\r\nCookie: sid=" + word(random, 8, 8) +
           "; b=" + word(random, 2, 4) +
           "\r\nCache-Control: no-cache\r\nX-A: " + word(random, 2, 6) +
           "\r\nX-Request-Id: " + word(random, 8, 8) + "\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n";
}

std::size_t counted = 0;  // so that nothing is left out

class Parsing {
public:
    void parse_all(const std::vector<std::string>& heads) {
        for (const std::string& bytes : heads) {
            if (parse_request_head(bytes_of(bytes), {wanted_}, room_, head_) !=
                    HeadStatus::Complete ||
                !head_.shapes.empty()) {
                std::abort();
            }
            counted += head_.path.size() + head_.host.size();
        }
    }

private:
    WantedHeaders wanted_ = *WantedHeaders::make(
        {"user-agent", "referer", "x-forwarded-for", "authorization"}, {"sid"});
    std::vector<std::byte> room_ = std::vector<std::byte>(4096);
    RequestHead head_;
};

void find_lines(const std::vector<std::string>& heads) {
    for (const std::string& bytes : heads) {
        const char* at = bytes.data();
        const char* const end = at + bytes.size();
        while (const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
            at = static_cast<const char*>(found) + 1;
            ++counted;
        }
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
    void parse_all(const std::vector<std::string>& heads) {
        for (const std::string& bytes : heads) {
            llhttp_t parser;
            llhttp_init(&parser, HTTP_REQUEST, &settings_);
            if (llhttp_execute(&parser, bytes.data(), bytes.size()) != HPE_OK) {
                std::abort();
            }
        }
    }

private:
    llhttp_settings_t settings_{};
};

void print(const Side& ours, const Side& other, std::size_t size) {
    std::printf(
        "{\"id\": \"H0\", \"case\": \"the head of a GET, %zu bytes, 12 headers\", \"value\": %.1f, "
        "\"unit\": \"ns\", \"reference\": \"%s\", \"reference_value\": %.1f, \"ratio\": %.3f, "
        "\"rounds\": %s}\n",
        size, ours.median(), other.name.c_str(), other.median(), ours.median() / other.median(),
        list_of(ours.rounds).c_str());
}

int run() {
    std::mt19937_64 random{3};
    std::vector<std::string> heads;
    std::size_t bytes = 0;
    while (heads.size() < kHeads) {
        heads.push_back(make_head(random));
        bytes += heads.back().size();
    }
    Parsing parsing;
    Llhttp llhttp;
    const auto each = [&](auto&& work) {
        return cpu_ns_per(kHeads * 8, [&] {
            for (int i = 0; i < 8; ++i) {
                work();
            }
        });
    };
    std::vector<Side> sides{
        {"parsed", [&] { return each([&] { parsing.parse_all(heads); }); }},
        {"memchr of its line ends", [&] { return each([&] { find_lines(heads); }); }},
        {"llhttp", [&] { return each([&] { llhttp.parse_all(heads); }); }}};
    run_rounds(sides, 9);
    print(sides[0], sides[1], bytes / kHeads);
    print(sides[0], sides[2], bytes / kHeads);
    std::fprintf(stderr, "%zu counted\n", counted);
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main() {
    return sluice::bench::run();
}
