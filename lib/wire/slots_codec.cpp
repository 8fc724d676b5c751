#include "lib/wire/slots_codec.hpp"

#include "lib/wire/rule_set_fields.hpp"

namespace sluice {

[[nodiscard]] inline PreviousNumbers blank_of(std::type_identity<PreviousNumbers>) {
    return {.limit = blank<AnyLimit>(), .coarser = {}};
}

[[nodiscard]] inline LoadedLimit blank_of(std::type_identity<LoadedLimit>) {
    return {blank<MeteredLimit>()};
}

void serialize(auto& archive, Of<PreviousNumbers> auto& previous) {
    archive(previous.version, previous.change, previous.forgiven, previous.limit, previous.coarser);
}

template <typename Archive>
void serialize(Archive& archive, Of<Units> auto& units) {
    std::uint64_t count = units.count();
    archive(count);
    if constexpr (Archive::kReads) {
        units = Units{count};
    }
}

void serialize(auto& archive, Of<MigratedFrom> auto& moved) {
    archive(moved.slot);
    archive.word(moved.combine, Combine::Most);
}

namespace {

// The form before, which had no tenants.
constexpr std::uint64_t kSlotsMagic4 = 0x34'53'54'4F'4C'53'4C'53;  // SLSLOTS4
constexpr std::uint64_t kSlotsMagic = 0x35'53'54'4F'4C'53'4C'53;   // SLSLOTS5

// The facts that tables need to know of a limit: other fields than those that cross the wire.
template <typename Archive>
void serialize_slot(Archive& archive, Of<LoadedLimit> auto& limit, bool has_tenant) {
    bool shared = limit.shared != 0;
    archive(limit.identity, limit.slot, limit.version, limit.overridden, limit.limit, limit.coarser,
            limit.previous, limit.most_used, limit.forgiven, shared, limit.rss_mapping);
    if (has_tenant) {
        archive(limit.tenant);
    }
    archive.optional_word(limit.migrating_to, Combine::Most);
    archive(limit.migrated_from);
    if constexpr (Archive::kReads) {
        limit.shared = shared ? 1 : 0;
    }
}

void serialize_kept(auto& archive, Of<KeptSlots> auto& kept) {
    std::uint64_t magic = kSlotsMagic;
    archive(magic, kept.region, kept.slots.changes);
    archive.check(magic == kSlotsMagic || magic == kSlotsMagic4);
    const auto slot = [&](auto& each, auto& limit) {
        serialize_slot(each, limit, magic == kSlotsMagic);
    };
    archive.list(kept.slots.limits, slot);
    archive.list(kept.slots.moved, slot);
}

}  // namespace

std::vector<std::byte> encode(const KeptSlots& kept) {
    Writer out;
    serialize_kept(out, kept);
    return out.take();
}

Result<KeptSlots> decode_slots(ByteView bytes) {
    Reader in{bytes};
    KeptSlots kept;
    serialize_kept(in, kept);
    if (!in.finished() || !kept.slots.is_sound()) {
        return Error{Errc::BadSyntax, "these are no slots of limits"};
    }
    return kept;
}

}  // namespace sluice
