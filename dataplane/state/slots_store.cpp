#include "dataplane/state/slots_store.hpp"

#include "dataplane/state/file_head.hpp"
#include "dataplane/state/whole_file.hpp"
#include "lib/base/read_file.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Raised whenever what slots_codec writes changes its form.
constexpr FileKind kSlotsFile{{'S', 'L', 'S', 'L', 'O', 'T', 'S', '\n'}, 2, "file of slots"};

}  // namespace

Result<Done> SlotsStore::save(const KeptSlots& slots) const {
    const std::vector<std::byte> bytes = with_head(kSlotsFile, encode(slots));
    const auto there = read_whole_file(path_, kMostSlotBytes);
    const bool is_there = there && *there && std::ranges::equal(bytes, bytes_of(**there));
    return is_there ? Result<Done>{Done{}} : replace_file(path_, bytes, Durable::No);
}

Result<std::optional<SlotsImage>> SlotsStore::load(std::uint64_t region) const {
    const auto text = read_whole_file(path_, kMostSlotBytes);
    if (!text && !is_about_content(text.error())) {
        return text.error();
    }
    if (text && !*text) {
        return std::optional<SlotsImage>{};
    }
    const Result<ByteView> body =
        text ? body_of(kSlotsFile, bytes_of(**text)) : Result<ByteView>{text.error()};
    Result<KeptSlots> kept = body ? decode_slots(*body) : Result<KeptSlots>{body.error()};
    if (!kept) {
        return Error{Errc::BadSyntax, path_ + " cannot be read (" + kept.error().what + "); " +
                                          put_file_aside(path_)};
    }
    if (kept->region != region) {
        return std::optional<SlotsImage>{};
    }
    return std::optional{std::move(kept->slots)};
}

}  // namespace sluice
