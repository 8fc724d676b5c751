#include "lib/wire/slots_codec.hpp"

#include "lib/wire/bytes_io.hpp"
#include "lib/wire/limit_codec.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t kSlotsMagic = 0x32'53'54'4F'4C'53'4C'53;  // SLSLOTS2
constexpr std::size_t kLeastNumbers = 2;
constexpr std::size_t kLeastFormer = 8;
constexpr std::size_t kLeastLimit = 34;
constexpr std::size_t kLeastMoved = 3;

void put_steps(Writer& out, const std::vector<AnyLimit>& steps) {
    out.list(steps, put_numbers);
}

std::vector<AnyLimit> get_steps(Reader& in) {
    return in.list<AnyLimit>(kLeastNumbers, get_numbers);
}

void put_former(Writer& out, const FormerNumbers& former) {
    out.number(former.version);
    out.number(former.change);
    put_numbers(out, former.limit);
    put_steps(out, former.coarser);
}

FormerNumbers get_former(Reader& in) {
    const auto version = in.number<std::uint8_t>();
    const auto change = in.number<std::uint8_t>();
    const AnyLimit limit = get_numbers(in);
    return {.limit = limit, .coarser = get_steps(in), .version = version, .change = change};
}

void put_moved(Writer& out, const MovedFrom& moved) {
    out.number(moved.slot);
    out.number(static_cast<std::uint8_t>(moved.combine == Combine::Most));
}

MovedFrom get_moved(Reader& in) {
    const auto slot = in.number<std::uint16_t>();
    return {slot, in.flag() ? Combine::Most : Combine::Sum};
}

void put_slot(Writer& out, const LoadedLimit& limit) {
    out.number(limit.identity);
    out.number(limit.slot);
    out.number(limit.version);
    out.number(static_cast<std::uint8_t>(limit.overridden));
    put_numbers(out, limit.limit);
    put_steps(out, limit.coarser);
    out.list(limit.former, put_former);
    out.number(static_cast<std::uint8_t>(limit.shared != 0));
    out.number(limit.spread);
    out.number(static_cast<std::uint8_t>(limit.moving ? 1 + static_cast<int>(*limit.moving) : 0));
    out.list(limit.moved_from, put_moved);
}

LoadedLimit get_slot(Reader& in) {
    const auto identity = in.number<std::uint64_t>();
    const auto slot = in.number<std::uint16_t>();
    const auto version = in.number<std::uint8_t>();
    const bool overridden = in.flag();
    LoadedLimit limit{{.identity = identity, .name = {}, .limit = get_numbers(in)}};
    limit.coarser = get_steps(in);
    limit.slot = slot;
    limit.version = version;
    limit.overridden = overridden;
    limit.former = in.list<FormerNumbers>(kLeastFormer, get_former);
    limit.shared = in.flag() ? 1 : 0;
    limit.spread = in.number<std::uint64_t>();
    const auto moving = in.number<std::uint8_t>();
    if (moving > 2) {
        in.fail();
    } else if (moving != 0) {
        limit.moving = moving == 1 ? Combine::Sum : Combine::Most;
    }
    limit.moved_from = in.list<MovedFrom>(kLeastMoved, get_moved);
    return limit;
}

}  // namespace

std::vector<std::byte> encode(const KeptSlots& kept) {
    Writer out;
    out.number(kSlotsMagic);
    out.number(kept.region);
    out.number(kept.slots.changes);
    out.list(kept.slots.limits, put_slot);
    out.list(kept.slots.moved, put_slot);
    return out.take();
}

Result<KeptSlots> decode_slots(ByteView bytes) {
    Reader in{bytes};
    const bool ours = in.number<std::uint64_t>() == kSlotsMagic;
    KeptSlots kept;
    kept.region = in.number<std::uint64_t>();
    kept.slots.changes = in.number<std::uint64_t>();
    kept.slots.limits = in.list<LoadedLimit>(kLeastLimit, get_slot);
    kept.slots.moved = in.list<LoadedLimit>(kLeastLimit, get_slot);
    if (!ours || !in.finished() || !kept.slots.is_sound()) {
        return Error{Errc::BadSyntax, "these are no slots of limits"};
    }
    return kept;
}

}  // namespace sluice
