#include "dataplane/state/slots_store.hpp"

#include "dataplane/state/file_head.hpp"
#include "dataplane/state/whole_file.hpp"

#include <ctime>
#include <fstream>
#include <iterator>

namespace sluice {
namespace {

// Raised whenever what slots_codec writes changes its form.
constexpr FileKind kSlotsFile{{'S', 'L', 'S', 'L', 'O', 'T', 'S', '\n'}, 2, "file of slots"};

}  // namespace

Result<Done> SlotsStore::save(const KeptSlots& slots) const {
    return replace_file(path_, with_head(kSlotsFile, encode(slots)), Durable::No);
}

Result<std::optional<SlotsImage>> SlotsStore::load(std::uint64_t region) const {
    std::ifstream file{path_, std::ios::binary};
    if (!file) {
        return std::optional<SlotsImage>{};
    }
    const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    const Result<ByteView> body = body_of(kSlotsFile, bytes_of(text));
    Result<KeptSlots> kept = body ? decode_slots(*body) : Result<KeptSlots>{body.error()};
    if (!kept) {
        const std::string aside = path_ + ".bad-" + std::to_string(::time(nullptr));
        (void)::rename(path_.c_str(), aside.c_str());
        return Error{Errc::BadSyntax,
                     path_ + " cannot be read (" + kept.error().what + "); it is kept as " + aside};
    }
    if (kept->region != region) {
        return std::optional<SlotsImage>{};
    }
    return std::optional{std::move(kept->slots)};
}

}  // namespace sluice
