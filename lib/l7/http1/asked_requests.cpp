#include "lib/l7/http1/asked_requests.hpp"

#include <cstring>

namespace sluice {
namespace {

constexpr unsigned kKindBits = 3;
constexpr unsigned kKinds = (1U << kKindBits) - 1;
constexpr unsigned kRunBits = 16;
constexpr unsigned kRun = (1U << kRunBits) - 1;
constexpr unsigned kUpgrade = 4;

unsigned kind_of(AskedRequest request) noexcept {
    return static_cast<unsigned>(request.method) | (request.passes_upgrade ? kUpgrade : 0);
}

unsigned lowest_kind(std::uint64_t word) noexcept {
    return static_cast<unsigned>(word) & kKinds;
}

unsigned lowest_count(std::uint64_t word) noexcept {
    return (static_cast<unsigned>(word) & kRun) >> kKindBits;
}

std::uint64_t run_of(unsigned kind, unsigned count) noexcept {
    return kind | count << kKindBits;
}

}  // namespace

bool AskedRequests::push(AskedRequest request) noexcept {
    const unsigned kind = kind_of(request);
    has_asked_head_ |= request.method == AskedMethod::Head ? 1U : 0U;
    if (size_ < kMostListed) {
        set_word(word() | std::uint64_t{kind} << size_ * kKindBits);
        ++size_;
        return true;
    }
    if (has_runs() || make_runs()) {
        if (push_run(kind, 1)) {
            return true;
        }
        if (total() < kMostListed) {
            make_list();
            return push(request);
        }
    }
    return false;
}

AskedRequest AskedRequests::front() const noexcept {
    const unsigned kind = lowest_kind(word());
    return {.method = static_cast<AskedMethod>(kind & ~kUpgrade),
            .passes_upgrade = (kind & kUpgrade) != 0};
}

void AskedRequests::pop() noexcept {
    const std::uint64_t all = word();
    if (!has_runs()) {
        set_word(all >> kKindBits);
        --size_;
    } else if (lowest_count(all) > 1) {
        set_word(all - run_of(0, 1));
    } else {
        set_word(all >> kRunBits);
        if (runs() == 1) {
            size_ = 0;
        } else {
            --size_;
        }
    }
}

// A request goes on with the last run, or begins one behind it.
bool AskedRequests::push_run(unsigned kind, unsigned count) noexcept {
    const std::uint64_t all = word();
    const unsigned last = runs() == 0 ? 0 : (runs() - 1) * kRunBits;
    const std::uint64_t run = all >> last;
    if (runs() != 0 && lowest_kind(run) == kind && lowest_count(run) + count <= kMostOfRun) {
        set_word(all + (run_of(0, count) << last));
        return true;
    }
    if (runs() == kMostRuns) {
        return false;
    }
    set_word(all | run_of(kind, count) << runs() * kRunBits);
    ++size_;
    return true;
}

// A full list becomes runs. False: they would be too many, and the list stays.
bool AskedRequests::make_runs() noexcept {
    AskedRequests made;
    made.size_ = kMostListed;
    made.has_asked_head_ = has_asked_head_;
    std::uint64_t rest = word();
    for (unsigned i = 0; i < kMostListed; ++i, rest >>= kKindBits) {
        if (!made.push_run(lowest_kind(rest), 1)) {
            return false;
        }
    }
    *this = made;
    return true;
}

void AskedRequests::make_list() noexcept {
    AskedRequests made;
    made.has_asked_head_ = has_asked_head_;
    while (!empty()) {
        (void)made.push(front());
        pop();
    }
    *this = made;
}

unsigned AskedRequests::total() const noexcept {
    unsigned sum = 0;
    std::uint64_t all = word();
    for (unsigned i = 0; i < runs(); ++i, all >>= kRunBits) {
        sum += lowest_count(all);
    }
    return sum;
}

std::uint64_t AskedRequests::word() const noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, word_.data(), word_.size());
    return word;
}

void AskedRequests::set_word(std::uint64_t word) noexcept {
    std::memcpy(word_.data(), &word, word_.size());
}

}  // namespace sluice
