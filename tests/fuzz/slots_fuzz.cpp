#include "lib/wire/slots_codec.hpp"
#include "tests/fuzz/accepted.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace {

// What workers count the uses of, by slot.
bool are_in_bounds(const std::vector<sluice::LoadedLimit>& limits) {
    return std::all_of(limits.begin(), limits.end(), [](const sluice::LoadedLimit& limit) {
        return limit.slot < sluice::kSlots &&
               std::all_of(
                   limit.migrated_from.begin(), limit.migrated_from.end(),
                   [](const sluice::MigratedFrom& from) { return from.slot < sluice::kSlots; });
    });
}

// Of the form that is written today.
bool is_of_this_form(sluice::ByteView bytes) {
    constexpr std::size_t kMagicBytes = 8;
    const std::vector<std::byte> written = sluice::encode(sluice::KeptSlots{});
    return std::ranges::equal(std::span{written}.first(kMagicBytes), bytes.first(kMagicBytes));
}

}  // namespace

// Any bytes as slots.bin: refused, or slots that are sound, can be gone on with and are written as
// bytes that read the same again; of today's form as the very bytes that were read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const ByteView bytes = std::as_bytes(std::span{data, size});
    const Result<KeptSlots> kept = decode_slots(bytes);
    static test::AcceptedInputs accepted;
    accepted.add(kept.has_value());
    if (!kept) {
        return 0;
    }
    const std::vector<std::byte> again = encode(*kept);
    if (is_of_this_form(bytes) && !std::ranges::equal(again, bytes)) {
        std::abort();
    }
    const Result<KeptSlots> reread = decode_slots(again);
    if (!reread || !std::ranges::equal(encode(*reread), again)) {
        std::abort();
    }
    if (!are_in_bounds(kept->slots.limits) || !are_in_bounds(kept->slots.moved)) {
        std::abort();
    }
    const LimitSlots slots{kept->slots};
    if (!slots.image().is_sound()) {
        std::abort();
    }
    return 0;
}
