#include "lib/l7/http1/name_table.hpp"

#include "lib/base/check.hpp"

#include <utility>

namespace sluice {

NameTable::NameTable(std::vector<std::string> names, bool ignore_case)
    : ignore_case_{ignore_case}, names_{std::move(names)} {
    slots_.fill(kNone);
    SLUICE_CHECK(names_.size() <= kMaxNames);
    for (std::string& name : names_) {
        for (char& letter : name) {
            letter = ignore_case
                         ? static_cast<char>(http1::to_lower(static_cast<std::byte>(letter)))
                         : letter;
        }
        const ByteView bytes = bytes_of(name);
        if (!bytes.empty()) {
            const std::uint32_t first = std::uint32_t{1} << letter_of(bytes.front());
            firsts_ |= first;
            firsts_by_size_[size_class(name.size())] |= first;
        }
        const http1::Block begin = begin_of(http1::ReadableText{bytes}.load(0), bytes.size());
        if (find(bytes) == kNone) {
            std::size_t slot = slot_of(begin, name.size());
            while (slots_[slot] != kNone) {
                slot = (slot + 1) % kSlots;
            }
            slots_[slot] = static_cast<std::uint8_t>(entries_.size());
        }
        Entry& entry = entries_.emplace_back();
        _mm256_store_si256(reinterpret_cast<__m256i*>(entry.begin.data()), begin);
        entry.size = name.size();
    }
}

bool NameTable::is_rest_equal(ByteView name, std::uint8_t index) const noexcept {
    const ByteView own = bytes_of(names_[index]);
    for (std::size_t at = http1::kBlock; at < name.size(); ++at) {
        if ((ignore_case_ ? http1::to_lower(name[at]) : name[at]) != own[at]) {
            return false;
        }
    }
    return true;
}

}  // namespace sluice
