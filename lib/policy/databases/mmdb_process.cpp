#include "lib/policy/databases/mmdb_process.hpp"

#include "lib/match/geo_parts.hpp"
#include "lib/packet/country.hpp"
#include "lib/policy/child_process.hpp"
#include "lib/policy/databases/mmdb_file.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>

#include <sys/resource.h>
#include <unistd.h>

namespace sluice {
namespace {

// The largest databases take about a second, and a fifth of this memory.
constexpr std::uint64_t kMicros = 20'000'000;
constexpr rlim_t kMemory = rlim_t{1} << 30;
constexpr std::size_t kMostText = std::size_t{64} << 10;

// The beginning of an answer; then a text (the type, or why there are no networks) and the steps.
struct Header {
    std::uint64_t refused = 0;  // 0: no; else 1 + Errc
    std::uint64_t text = 0;
    std::uint64_t built_at = 0;
    std::uint64_t steps = 0;
    std::uint64_t v6_steps = 0;
};
constexpr std::size_t kMostAnswer = sizeof(Header) + kMostText +
                                    kMaxOriginSteps * sizeof(Step<std::uint64_t>) +
                                    kMaxWideOriginSteps * sizeof(Step<Wide>);

// Counted with what it has: here, what it has of its parent.
void limit_memory() {
    std::ifstream file{"/proc/self/statm"};
    std::uint64_t pages = 0;
    for (int column = 0; column < 6; ++column) {  // the sixth: data and stack
        file >> pages;
    }
    const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kMemory;
    const rlimit limit{most, most};
    (void)setrlimit(RLIMIT_DATA, &limit);
}

void append(std::vector<std::byte>& out, ByteView bytes) {
    const std::size_t before = out.size();
    out.resize(before + bytes.size());
    if (!bytes.empty()) {
        std::memcpy(out.data() + before, bytes.data(), bytes.size());
    }
}

bool take(ByteView& rest, std::size_t count, std::string& text) {
    if (count > kMostText || count > rest.size()) {
        return false;
    }
    text.assign(reinterpret_cast<const char*>(rest.data()), count);
    rest = rest.subspan(count);
    return true;
}

// Steps begin at 0 and ascend, with neighbours that differ; IPv4 addresses have 32 bits.
template <typename Key>
bool take(ByteView& rest, std::uint64_t count, std::size_t most, std::vector<Step<Key>>& steps) {
    if (count == 0 || count > most || count > rest.size() / sizeof(Step<Key>)) {
        return false;
    }
    steps.resize(count);
    const std::size_t size = count * sizeof(Step<Key>);
    std::memcpy(static_cast<void*>(steps.data()), rest.data(), size);
    rest = rest.subspan(size);
    const bool fits = sizeof(Key) > sizeof(std::uint64_t) || (steps.back().first >> 32) == 0;
    return steps.front().first == 0 && fits &&
           std::adjacent_find(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
               return a.first >= b.first || a.row == b.row;
           }) == steps.end();
}

template <typename Key>
bool hold(const std::vector<Step<Key>>& steps, DatabaseKind kind) {
    return kind != DatabaseKind::Country ||
           std::all_of(steps.begin(), steps.end(),
                       [](const Step<Key>& step) { return step.row <= kMaxCountry; });
}

Error not_readable() {
    return broken_mmdb("libmaxminddb ends, or takes too long, on reading it");
}

}  // namespace

std::vector<std::byte> answer_of(const Result<DatabaseNetworks>& outcome) {
    const std::string& said = outcome ? outcome->type : outcome.error().what;
    const std::string_view text = std::string_view{said}.substr(0, kMostText);
    Header header{.text = text.size()};
    if (outcome) {
        header.built_at = outcome->built_at;
        header.steps = outcome->steps.size();
        header.v6_steps = outcome->v6_steps.size();
    } else {
        header.refused = 1 + static_cast<std::uint64_t>(outcome.error().code);
    }
    std::vector<std::byte> answer;
    answer.reserve(sizeof(header) + text.size() + header.steps * sizeof(Step<std::uint64_t>) +
                   header.v6_steps * sizeof(Step<Wide>));
    append(answer, std::as_bytes(std::span{&header, 1}));
    append(answer, bytes_of(text));
    if (outcome) {
        append(answer, std::as_bytes(std::span{outcome->steps}));
        append(answer, std::as_bytes(std::span{outcome->v6_steps}));
    }
    return answer;
}

Result<DatabaseNetworks> networks_of_answer(ByteView answer, DatabaseKind kind) {
    Header header;
    if (answer.size() < sizeof(header)) {
        return not_readable();
    }
    std::memcpy(&header, answer.data(), sizeof(header));
    ByteView rest = answer.subspan(sizeof(header));
    DatabaseNetworks networks;
    if (!take(rest, header.text, networks.type)) {
        return not_readable();
    }
    if (header.refused != 0 && !networks.type.empty()) {
        const bool too_many = header.refused == 1 + static_cast<std::uint64_t>(Errc::TooMany);
        return Error{too_many ? Errc::TooMany : Errc::BadSyntax, networks.type};
    }
    networks.built_at = header.built_at;
    if (header.refused != 0 || !take(rest, header.steps, kMaxOriginSteps, networks.steps) ||
        !take(rest, header.v6_steps, kMaxWideOriginSteps, networks.v6_steps) || !rest.empty() ||
        !hold(networks.steps, kind) || !hold(networks.v6_steps, kind)) {
        return not_readable();
    }
    return networks;
}

void bound_reading() {
    limit_memory();
    set_timer(ITIMER_REAL, kMicros * kRealTimeFactor);
    set_timer(ITIMER_PROF, kMicros);
}

Result<DatabaseNetworks> read_mmdb(std::string_view bytes, DatabaseKind kind) {
    const auto read = [&](const ChildOutput& out) {
        bound_reading();
        out.put(answer_of(read_mmdb_here(bytes, kind)));
    };
    const std::optional<std::vector<std::byte>> answer = run_in_child(read, kMostAnswer);
    if (!answer) {
        return Error{Errc::Unreachable,
                     "cannot be read: there is no process, or no memory, for it"};
    }
    return networks_of_answer(*answer, kind);
}

}  // namespace sluice
