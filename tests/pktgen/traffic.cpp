#include "tests/pktgen/traffic.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <span>

namespace sluice::pktgen {
namespace {

struct SizeShare {
    std::size_t size;
    unsigned twelfths;
};
// The simple IMIX, with FCS: RFC 6985, 4, "ipv4 imix".
constexpr std::array<SizeShare, 3> kImix{{{64, 7}, {594, 4}, {1518, 1}}};
constexpr unsigned kPlacesOfPercent = 12;  // so that twelfths of a percent are whole
constexpr std::uint16_t kFirstPort = 1024;
constexpr std::uint64_t kPorts = 65536 - kFirstPort;

// In IMIX the smallest frame is as small as what it carries allows.
Result<FrameTemplate> make_imix(const PacketKind& kind, const TrafficPlan& plan, std::size_t size) {
    Result<FrameTemplate> least = FrameTemplate::make(kind, plan.route, 0, plan.is_probed);
    if (!least || size <= least->bytes() + kFcs) {
        return least;
    }
    return FrameTemplate::make(kind, plan.route, size, plan.is_probed);
}

// Whether the last of these is the later part of the datagrams of the one before it.
bool is_second_part(std::span<const FrameTemplate> frames) {
    return frames.size() > 1 && frames.back().kind().fragment.part == Fragment::Part::Later &&
           frames[frames.size() - 2].kind().fragment.part == Fragment::Part::First;
}

}  // namespace

Result<Traffic> Traffic::make(const TrafficPlan& plan) {
    Traffic made;
    made.is_probed_ = plan.is_probed;
    made.number_ = plan.route.is_back ? kFirstBack : 0;
    const std::array<SizeShare, 1> one{{{plan.size, 12}}};
    const std::span<const SizeShare> sizes =
        plan.is_imix ? std::span<const SizeShare>{kImix} : std::span<const SizeShare>{one};
    for (PacketKind kind : plan.profile->kinds) {
        kind.sources = plan.sources.value_or(kind.sources);
        if (plan.is_imix && kind.fragment.is_part()) {
            return Error{Errc::BadSyntax,
                         "both fragments of a datagram are of one size: no --size imix"};
        }
        for (const SizeShare& share : sizes) {
            Result<FrameTemplate> frame =
                plan.is_imix ? make_imix(kind, plan, share.size)
                             : FrameTemplate::make(kind, plan.route, share.size, plan.is_probed);
            if (!frame) {
                return frame.error();
            }
            const Place place{static_cast<std::uint16_t>(made.templates_.size()),
                              static_cast<std::uint16_t>(made.sent_of_.size())};
            made.templates_.push_back(*std::move(frame));
            if (is_second_part(made.templates_)) {
                continue;  // behind its first part
            }
            made.places_.insert(made.places_.end(),
                                kind.percent * share.twelfths * kPlacesOfPercent / 12, place);
        }
        made.sent_of_.push_back(0);
    }
    std::mt19937 draw{1};  // the same order each time
    std::ranges::shuffle(made.places_, draw);
    made.put_second_parts();
    return made;
}

void Traffic::put_second_parts() {
    std::vector<Place> all;
    for (const Place& place : places_) {
        all.push_back(place);
        const std::size_t next = place.frame + 1U;
        if (next < templates_.size() && is_second_part(std::span{templates_}.first(next + 1))) {
            all.push_back(
                {static_cast<std::uint16_t>(next), static_cast<std::uint16_t>(place.kind + 1)});
        }
    }
    places_ = std::move(all);
}

FrameVariation Traffic::variation(const Place& place) const noexcept {
    const PacketKind& kind = templates_[place.frame].kind();
    const std::uint64_t sent = sent_of_[place.kind];
    const std::uint64_t source = SourceSpace::index(sent, kind.sources);
    // A new connection of a source has another port than its last 64,511.
    const std::uint64_t connection =
        kind.is_new_connection && !kind.sources.is_new ? sent >> kind.sources.bits : 0;
    const std::uint64_t port = ((source * SourceSpace::kOdd) >> 48) + connection;
    return {source, static_cast<std::uint16_t>(kFirstPort + port % kPorts),
            static_cast<std::uint32_t>((sent * SourceSpace::kOdd) >> 32),
            static_cast<std::uint32_t>(kind.sources.is_new ? sent : sent >> kind.sources.bits)};
}

std::uint16_t Traffic::next_queue(std::uint16_t queues) const noexcept {
    const Place& place = places_[at_];
    const SourceCount& sources = templates_[place.frame].sources();
    const std::uint64_t hash =
        SourceSpace::index(sent_of_[place.kind], sources) * SourceSpace::kOdd;
    return static_cast<std::uint16_t>((hash >> 32) % queues);
}

void Traffic::write_next(std::byte* to, std::uint64_t now) const noexcept {
    const Place& place = places_[at_];
    const FrameTemplate& frame = templates_[place.frame];
    if (is_probed_) {
        frame.write_probed(variation(place), {number_, now}, to);
    } else {
        frame.write(variation(place), to);
    }
}

double Traffic::mean_wire_bits() const noexcept {
    std::uint64_t bits = 0;
    for (const Place& place : places_) {
        bits += templates_[place.frame].wire_bits();
    }
    return static_cast<double>(bits) / static_cast<double>(places_.size());
}

std::size_t Traffic::longest() const noexcept {
    return std::ranges::max_element(templates_, {}, &FrameTemplate::bytes)->bytes();
}

}  // namespace sluice::pktgen
