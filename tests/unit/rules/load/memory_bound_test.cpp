#include "lib/policy/compile.hpp"
#include "lib/policy/compile_memory.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "lib/wire/archive.hpp"
#include "lib/wire/codec.hpp"
#include "lib/wire/message_fields.hpp"
#include "tests/bench/rule_mix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>
#include <string>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// Every allocation of this program passes here, so that the most that lives at once is known.
namespace {
std::size_t living = 0;
std::size_t most_living = 0;

void* born(void* memory, std::size_t size) {
    living += memory == nullptr ? 0 : size;
    most_living = std::max(most_living, living);
    return memory;
}
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    void* memory = std::malloc(size);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return born(memory, malloc_usable_size(memory));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    void* memory = std::malloc(size);
    return memory == nullptr ? nullptr : born(memory, malloc_usable_size(memory));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t align) {
    void* memory = ::memalign(static_cast<std::size_t>(align), size);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return born(memory, malloc_usable_size(memory));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    living -= memory == nullptr ? 0 : malloc_usable_size(memory);
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    operator delete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    operator delete(memory);
}
// The tables of packets are mapped, and given back with the same size.
extern "C" void* mmap(void* at, std::size_t size, int protection, int flags, int fd,
                      off_t offset) noexcept {
    const long mapped = ::syscall(SYS_mmap, at, size, protection, flags, fd, offset);
    void* memory = reinterpret_cast<void*>(mapped);
    return memory == MAP_FAILED ? memory : born(memory, size);
}
extern "C" int munmap(void* memory, std::size_t size) noexcept {
    living -= std::min(living, size);
    return static_cast<int>(::syscall(SYS_munmap, memory, size));
}

namespace sluice::memory_bound_test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWorkers = 2;
constexpr char kLimits[] = "[{algorithm: token_bucket, rate: 100/s, burst: 200}]";

struct Case {
    const char* name;
    std::string rules;
    std::string list;
};

std::string header(const std::string& data = {}) {
    return "version: 1\n" + data + "rules:\n";
}

std::string many_simple(std::size_t count) {
    std::string text = header();
    for (std::size_t i = 0; i < count; ++i) {
        text += "  - {id: r" + std::to_string(i) + ", mode: enforce, when: ip.src eq 10." +
                std::to_string(i >> 16) + "." + std::to_string(i >> 8 & 255) + "." +
                std::to_string(i & 255) + ", on_match: allow}\n";
    }
    return text;
}

std::string many_limits(std::size_t count) {
    std::string text = header();
    for (std::size_t i = 0; i < count; ++i) {
        text += "  - {id: r" + std::to_string(i) + ", mode: enforce, when: l4.dport eq " +
                std::to_string(i) + ", key: [ip.src, l4.dport], limits: " + kLimits + "}\n";
    }
    return text;
}

std::string texts(std::size_t count) {
    std::string text = header();
    for (std::size_t i = 0; i < count; ++i) {
        const std::string word = "w" + std::to_string(i * 2654435761U);
        text += "  - {id: r" + std::to_string(i) + ", mode: enforce, on_match: drop, when: '" +
                (i % 3 == 0   ? "payload contains \"" + word + "\""
                 : i % 3 == 1 ? "starts_with(payload, \"" + word + "\")"
                              : "payload matches \"" + word + "[0-9]+x\"") +
                "'}\n";
    }
    return text;
}

std::string networks(std::size_t count, bool v6) {
    std::mt19937_64 random{7};
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random();
        char line[64];
        if (v6) {
            std::snprintf(line, sizeof(line), "2%03x:%x:%x::/%d\n", unsigned(bits & 0xFFF),
                          unsigned(bits >> 12 & 0xFFFF), unsigned(bits >> 28 & 0xFFFF), 48);
        } else {
            std::snprintf(line, sizeof(line), "%u.%u.%u.%u/%u\n", unsigned(bits & 127) + 1,
                          unsigned(bits >> 8 & 255), unsigned(bits >> 16 & 255),
                          unsigned(bits >> 24 & 255), 32U);
        }
        list += line;
    }
    return list;
}

// More sets of addresses than records of tables name.
std::string many_sets(std::size_t count) {
    std::string text = header();
    for (std::size_t i = 0; i < count; ++i) {
        text += "  - {id: r" + std::to_string(i) +
                ", mode: enforce, on_match: drop, when: 'ip.src in {";
        for (std::size_t k = 0; k < 40; ++k) {
            const std::size_t at = (k * count + i) * 7919 % 65'536;
            text += "10." + std::to_string(at >> 8) + "." + std::to_string(at & 255) +
                    ".7 2001:db8:" + std::to_string(at % 9973) + "::7 ";
        }
        text += "}'}\n";
    }
    return text;
}

const std::string kOfList =
    header("data: {lists: {all: {type: cidr, file: all.txt}}}\n") +
    "  - {id: listed, mode: enforce, when: ip.src in $all, on_match: drop}\n";

// A rule whose overrides name so many keys; `wide`: networks of 32 addresses in their place.
std::string overridden(std::size_t keys, bool wide = false) {
    std::string text = header() +
                       "  - id: own\n    mode: enforce\n    key: [ip.src]\n    limits: " + kLimits +
                       "\n    overrides:\n      inline:\n";
    for (std::size_t i = 0; i < keys; ++i) {
        const std::string key =
            wide ? "10." + std::to_string(i >> 8) + "." + std::to_string(i & 255) + ".32/27"
                 : "10.1." + std::to_string(i >> 8) + "." + std::to_string(i & 255);
        text += "        - {key: [" + key + "], limits: {\"1\": {rate: " + std::to_string(1 + i) +
                "/s}}}\n";
    }
    return text;
}

// So many rules of public suffixes, and a rule that needs them.
const std::string kOfDomains =
    header() +
    "  - {id: each, mode: enforce, key: ['registrable_domain(tls.sni)'], limits: " + kLimits +
    "}\n";
std::string suffix_rules(std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
        constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz012345";
        list += {kLetters[i & 31], kLetters[i >> 5 & 31], kLetters[i >> 10 & 31],
                 static_cast<char>('a' + (i >> 15)), '\n'};
    }
    return list;
}

// As sluiced would send it.
std::vector<std::byte> message_of(const Case& of) {
    const auto list = std::make_shared<const std::string>(of.list);
    const ListReader read = [&](const std::string&) { return ListFile{.text = list}; };
    Problems problems{of.name};
    const std::size_t before = living;
    most_living = living;
    std::optional<CompiledRules> compiled = compile_rules(
        {.file = of.name, .text = of.rules, .lists = &read}, Purpose::Enforce, {}, problems);
    EXPECT_LE(most_living - before, compile_memory(of.rules.size(), of.list.size())) << of.name;
    if (!compiled) {
        ADD_FAILURE() << render(problems.list().front(), of.rules);
        return {};
    }
    return encode(Request{ApplyRules{std::move(compiled->set), of.rules, {}}});
}

// What is alive at most, beside what was before, while a message is decoded, loaded and encoded
// as the dataplane does to keep it.
std::size_t most_taken_by(const std::vector<std::byte>& message) {
    const std::size_t before = living;
    most_living = living;
    Result<Request> request = decode_request(message);
    if (!request) {
        ADD_FAILURE() << request.error().what;
        return 0;
    }
    auto& apply = std::get<ApplyRules>(*request);
    apply.rules.generation = generation_of(apply.rules);
    const Environment environment{.secret = {1, 2}, .sharers = {kWorkers, 1ms}};
    const Result<LoadedRules> loaded = LoadedRules::make(std::move(apply.rules), environment);
    EXPECT_TRUE(loaded);
    const Result<LoadedRules> again = loaded->again(environment);
    EXPECT_TRUE(again);
    (void)encode(RulesInForce{loaded->rules(), apply.source, apply.modes, apply.seal});
    return most_living - before;
}

// The least room with which the message is not refused for want of it.
std::uint64_t room_for(const std::vector<std::byte>& message) {
    Reader in{message, {UINT64_MAX, kWorkers}};
    Request request;
    in(request);
    EXPECT_TRUE(in.finished());
    return in.needed() + 4 * message.size();
}

TEST(MemoryBound, IsAboveWhatIsTakenAndNotFarAbove) {
    std::vector<Case> cases{{"none", "version: 1\nrules: []\n", {}},
                            {"simple", many_simple(16'000), {}},
                            {"limits", many_limits(2'000), {}},
                            {"overrides", overridden(20'000), {}},
                            {"ranges", overridden(20'000, true), {}},
                            {"texts", texts(300), {}},
                            {"IPv4", kOfList, networks(200'000, false)},
                            {"IPv6", kOfList, networks(100'000, true)},
                            {"sets", many_sets(300), {}},
                            {"few", kOfList, networks(3'000, true)},
                            {"domains", kOfDomains, suffix_rules(kMaxSuffixRules)}};
    for (const std::size_t count : {64, 300, 1000, 4000}) {
        cases.push_back({"mixed", bench::mixed_rules(count, kLimits, count), {}});
    }
    for (const Case& each : cases) {
        const std::vector<std::byte> message = message_of(each);
        const std::uint64_t bound = room_for(message);
        const std::size_t taken = most_taken_by(message);
        EXPECT_LE(taken, bound) << each.name;
        EXPECT_LE(bound, 6 * taken + (std::size_t{16} << 20)) << each.name;
    }
}

TEST(MemoryBound, WhatDoesNotFitIsRefusedWithTheAmountAndTakesNothing) {
    const std::vector<std::byte> message = message_of({"simple", many_simple(4'000), {}});
    const std::uint64_t bound = room_for(message);
    for (const std::uint64_t room :
         {std::uint64_t{0}, std::uint64_t{4 * message.size()}, bound / 4, bound / 2, bound - 1}) {
        const std::size_t before = living;
        most_living = living;
        const Result<Request> request = decode_request(message, {room, kWorkers});
        ASSERT_FALSE(request) << room;
        EXPECT_EQ(request.error().code, Errc::NoMemory);
        EXPECT_LE(most_living - before, room + 4096) << room;
        EXPECT_NE(request.error().what.find(std::to_string(room >> 20) + " MiB are available"),
                  std::string::npos)
            << request.error().what;
    }
    EXPECT_TRUE(decode_request(message, {bound, kWorkers}));
    const std::string needed = std::to_string((bound >> 20) + 1) + " MiB of memory, ";
    EXPECT_NE(decode_request(message, {bound - 1, kWorkers}).error().what.find(needed),
              std::string::npos);
}

TEST(MemoryBound, OtherRequestsNeedNone) {
    EXPECT_TRUE(decode_request(encode(Request{GetStats{}}), {0, kWorkers}));
    EXPECT_TRUE(decode_request(encode(Request{SetPanic{true}}), {0, kWorkers}));
}

}  // namespace
}  // namespace sluice::memory_bound_test
