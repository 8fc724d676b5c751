#include "dataplane/slots_store.hpp"

#include "dataplane/whole_file.hpp"

#include <fstream>
#include <iterator>

namespace sluice {

Result<Done> SlotsStore::save(const KeptSlots& slots) const {
    return replace_file(path_, encode(slots), Durable::No);
}

Result<std::optional<SlotsImage>> SlotsStore::load(std::uint64_t region) const {
    std::ifstream file{path_, std::ios::binary};
    if (!file) {
        return std::optional<SlotsImage>{};
    }
    const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    Result<KeptSlots> kept = decode_slots(bytes_of(text));
    if (!kept) {
        return Error{Errc::BadSyntax, path_ + " cannot be read: " + kept.error().what};
    }
    if (kept->region != region) {
        return std::optional<SlotsImage>{};
    }
    return std::optional{std::move(kept->slots)};
}

}  // namespace sluice
