#pragma once
#include "lib/base/prefetch.hpp"
#include "lib/engine/burst/packet.hpp"
#include "lib/engine/burst/scratch.hpp"
#include "lib/l7/stream/connection_ends.hpp"
#include "lib/l7/stream/normalization.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/packet/frame_columns.hpp"
#include "lib/packet/header_columns.hpp"
#include "lib/peer/reserve/pending_packets.hpp"
#include "lib/respond/answer/answered_packet.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sluice {

class BurstUnits;
struct UnitFinder;

struct FreeUnits {
    void operator()(BurstUnits* units) const noexcept;
};

// Packets that go through the stages together, as columns, and what the stages note of them for one
// another.
class Burst {
public:
    // Adds a frame that came in on this side of the pair with port_name() `port`.
    bool add(const FrameView& frame, Direction dir, std::uint64_t port,
             void* buffer = nullptr) noexcept {
        if (size() == kMaxBurst) {
            return false;
        }
        headers_.set_ingress(size(), dir, port);
        alike_ = false;
        prefetch0(frame.bytes.data());
        packets_[size()].buffer = buffer;
        frames_.add(frame.bytes, frame.wire_size);
        frames_.readable_behind = std::min(frames_.readable_behind, frame.readable_behind);
        live_ = frames_.rows();
        return true;
    }
    // For frames that all come in at one place: they take the place of what the burst held. Each
    // has its view, by row, and the buffer that it lies in. Prefetches their headers. At most
    // kMaxBurst.
    template <typename Buffer, typename ViewOf>
    void fill(Direction dir, std::uint64_t port, std::span<Buffer* const> buffers,
              ViewOf&& view_of) noexcept {
        begin(dir, port);
        std::uint32_t readable_behind = ~std::uint32_t{0};
        for (std::size_t row = 0; row < buffers.size(); ++row) {
            const FrameView frame = view_of(row);
            prefetch0(frame.bytes.data());
            packets_[row].buffer = buffers[row];
            frames_.set(row, frame.bytes, frame.wire_size);
            readable_behind = std::min(readable_behind, frame.readable_behind);
        }
        frames_.size = static_cast<std::uint32_t>(buffers.size());
        frames_.readable_behind = readable_behind;
        live_ = first_rows(buffers.size());
    }
    void clear() noexcept {
        frames_.size = 0;
        frames_.readable_behind = ~std::uint32_t{0};
        live_ = 0;
        origin_ = Origin::Port;
        scratch_.forget();
        proxied_ = 0;
        ends_.filled = 0;
        normalized_ = 0;
        of_services_ = 0;
        handshakes_ = {};
        if (uses_units_) [[unlikely]] {
            forget_units();
        }
    }

    // The place that its rows come from. What has come before was counted then: rules that only
    // watch, and units (lib/l7/stream/unit_event.hpp).
    enum class Origin : std::uint8_t {
        Port,
        Worker,   // another one has handed them to this one
        Pending,  // they have waited (lib/peer/reserve/pending_packets.hpp)
    };
    [[nodiscard]] Origin origin() const noexcept { return origin_; }
    [[nodiscard]] bool is_new() const noexcept { return origin_ == Origin::Port; }
    void come_from_worker() noexcept { origin_ = Origin::Worker; }
    // Each row by its place there, once the burst has been filled.
    void come_from_pending(std::span<const PendingSlot> places) noexcept {
        origin_ = Origin::Pending;
        std::copy(places.begin(), places.end(), places_.begin());
    }
    [[nodiscard]] PendingSlot place(std::size_t row) const noexcept {
        return origin_ == Origin::Pending ? places_[row] : kNoPendingSlot;
    }

    // Rows that came; those of `live()` have not been taken out since.
    [[nodiscard]] std::size_t size() const noexcept { return frames_.size; }
    [[nodiscard]] RowMask live() const noexcept { return live_; }
    // Another worker has these, or nobody: no later stage, nor the sender, sees them.
    void take_out(RowMask rows) noexcept { live_ &= ~rows; }

    [[nodiscard]] std::span<Packet> packets() noexcept { return std::span{packets_}.first(size()); }
    [[nodiscard]] std::span<const Packet> packets() const noexcept {
        return std::span{packets_}.first(size());
    }
    [[nodiscard]] FrameView frame(std::size_t row) const noexcept { return frames_.frame(row); }
    [[nodiscard]] const FrameColumns& frames() const noexcept { return frames_; }
    [[nodiscard]] HeaderColumns& headers() noexcept { return headers_; }
    [[nodiscard]] const HeaderColumns& headers() const noexcept { return headers_; }
    // All headers of one packet that has been parsed.
    [[nodiscard]] const PacketHeaders& headers_of(std::size_t row) const noexcept {
        return headers_.headers(row);
    }
    // The live packets, as act_burst() reads them.
    template <typename Visit>
    void for_each_packet(Visit&& visit) const noexcept {
        for_each_row(live_, visit);
    }
    [[nodiscard]] const PacketHeaders& headers(std::size_t row) const noexcept {
        return headers_of(row);
    }
    [[nodiscard]] Decision& decision(std::size_t row) noexcept { return packets_[row].decision; }
    [[nodiscard]] AnsweredPacket answered(std::size_t row) const noexcept;
    [[nodiscard]] SegmentGlance glance(std::size_t row) const noexcept {
        return {.sport = headers_.sport[row],
                .dport = headers_.dport[row],
                .flags = headers_.tcp_flags[row],
                .dir = headers_.dir[row],
                .has_unit = uses_units_ && has_unit(row)};
    }
    // Notes what is known of the handshakes of these rows' connections; that of others is
    // Untracked.
    void note_handshakes(Handshake what, RowMask rows) noexcept {
        handshakes_[static_cast<std::size_t>(what)] |= rows;
    }
    [[nodiscard]] Handshake handshake(std::size_t row) const noexcept {
        std::size_t what = handshakes_.size() - 1;
        while (what != 0 && !has_row(handshakes_[what], row)) {
            --what;
        }
        return Handshake{static_cast<std::uint8_t>(what)};
    }
    [[nodiscard]] bool has_tcp(std::size_t row) const noexcept {
        return has_row(headers_.present_rows(HeaderPart::Tcp), row);
    }
    [[nodiscard]] bool has_tcp() const noexcept {
        return (headers_.present_rows(HeaderPart::Tcp) & live_) != 0;
    }
    [[nodiscard]] Normalization normalization(std::size_t row) const noexcept;
    [[nodiscard]] bool normalizes() const noexcept { return normalized_ != 0; }
    [[nodiscard]] Scratch& scratch() noexcept { return scratch_; }
    [[nodiscard]] const Scratch& scratch() const noexcept { return scratch_; }

    // The connections of parsed rows: worked out once, for whichever stage is the first to ask.
    const RowEnds& connection_ends(RowMask rows, const KeyHasher& hash) const noexcept {
        const RowMask missing = rows & ~ends_.filled;
        if (missing != 0) {
            fill_connection_ends(headers_, missing, hash, ends_);
        }
        return ends_;
    }
    [[nodiscard]] ConnectionEnds ends_of(std::size_t row, const KeyHasher& hash) const noexcept {
        return connection_ends(row_bit(row), hash)[row];
    }

    // Judges units of later layers that this parser finds in packets one by one, from now on
    // (lib/engine/burst/burst_units.hpp). Allocates the first time; without it packets have none.
    void find_units_by(UnitFinder finder);
    // The parser of units; nullptr: none.
    [[nodiscard]] const BurstUnits* unit_parser() const noexcept { return units_.get(); }
    [[nodiscard]] BurstUnits* unit_parser() noexcept { return units_.get(); }
    // Room for this burst's units, which are about to be found; there is a parser.
    [[nodiscard]] BurstUnits& begin_units() noexcept {
        forget_units();
        uses_units_ = true;
        return *units_;
    }
    // nullptr: none have been looked for in this burst.
    [[nodiscard]] BurstUnits* units() noexcept { return uses_units_ ? units_.get() : nullptr; }
    [[nodiscard]] const BurstUnits* units() const noexcept {
        return uses_units_ ? units_.get() : nullptr;
    }
    // A row stands for a unit of a later layer; of kind Per::Packet, for what a later layer says
    // of the packet without being a unit.
    void set_unit(std::size_t row, Per kind, const UnitTexts& texts) noexcept {
        headers_.set_unit(row, texts);
        if (!is_of_packet(kind)) {
            rows_of_kind_[place_of(kind)] |= row_bit(row);
        }
    }
    // The rows that stand for units of such a kind.
    [[nodiscard]] RowMask rows_of_kind(Per kind) const noexcept {
        return rows_of_kind_[place_of(kind)];
    }
    // The rows that stand for a unit of any of these kinds; all rows, if there is no kind.
    [[nodiscard]] RowMask rows_with(PerSet kinds) const noexcept {
        if (kinds.empty()) [[likely]] {
            return ~RowMask{0};
        }
        RowMask rows = 0;
        for (const Per kind : {Per::Request, Per::Query, Per::Handshake}) {
            rows |= kinds.has(kind) ? rows_of_kind(kind) : 0;
        }
        return rows;
    }
    // The rows that stand for one of several units of their packet.
    void set_several(RowMask rows) noexcept { several_ = rows; }
    [[nodiscard]] RowMask several() const noexcept { return several_; }
    // The unit that a rule decided a packet by, with the texts of its key.
    [[nodiscard]] const PacketHeaders& deciding_headers(std::size_t row) noexcept;
    // The rows that repeat bytes whose verdict another packet decides.
    [[nodiscard]] RowMask following() const noexcept;
    // No row stands for a unit of a later layer.
    void forget_units() noexcept;

    // The rows of services, as their tracker found them.
    void set_of_services(RowMask rows) noexcept { of_services_ = rows; }
    [[nodiscard]] RowMask of_services() const noexcept { return of_services_; }
    [[nodiscard]] ServicePacket service(std::size_t row) const noexcept;
    // Rows whose frames are normalised when they are forwarded.
    void set_normalized(RowMask rows) noexcept { normalized_ = rows; }
    // A row that another worker has handed over, which is to be changed so.
    void normalize(std::size_t row, const Normalization& change) noexcept;

    // The rows that a trusted proxy sent, where proxies name clients.
    void set_proxied(RowMask rows) noexcept { proxied_ = rows; }
    [[nodiscard]] RowMask proxied() const noexcept { return proxied_; }

private:
    [[nodiscard]] bool has_unit(std::size_t row) const noexcept {
        return std::any_of(rows_of_kind_.begin(), rows_of_kind_.end(),
                           [row](RowMask rows) { return has_row(rows, row); });
    }
    void begin(Direction dir, std::uint64_t port) noexcept {
        clear();
        if (!alike_ || dir != dir_ || port != port_) [[unlikely]] {
            headers_.set_ingress(dir, port);
            dir_ = dir;
            port_ = port;
            alike_ = true;
        }
    }
    [[nodiscard]] static constexpr std::size_t place_of(Per kind) noexcept {
        return static_cast<std::size_t>(kind) - static_cast<std::size_t>(Per::Request);
    }

    FrameColumns frames_;
    RowMask live_ = 0;
    std::array<Packet, kMaxBurst> packets_{};
    HeaderColumns headers_;
    bool alike_ = false;  // all rows came in at one place: dir_, port_
    Direction dir_ = Direction::In;
    std::uint64_t port_ = 0;
    Origin origin_ = Origin::Port;
    std::array<PendingSlot, kMaxBurst> places_;
    Scratch scratch_;
    RowMask several_ = 0;
    RowMask proxied_ = 0;
    RowMask normalized_ = 0;
    RowMask of_services_ = 0;
    std::array<RowMask, kHandshakes> handshakes_{};
    std::array<RowMask, 3> rows_of_kind_{};  // from Per::Request on
    std::unique_ptr<BurstUnits, FreeUnits> units_;
    bool uses_units_ = false;  // since the last clear()
    mutable RowEnds ends_;     // connection_ends() fills it
};

// One packet of a burst that has been decided.
struct BurstRow {
    Burst* burst = nullptr;
    std::size_t row = 0;

    [[nodiscard]] Decision& decision() const noexcept { return burst->packets()[row].decision; }
    [[nodiscard]] const PacketHeaders& headers() const noexcept { return burst->headers_of(row); }
    [[nodiscard]] const PacketHeaders& deciding_headers() const noexcept {
        return burst->deciding_headers(row);
    }
    [[nodiscard]] FrameView frame() const noexcept { return burst->frame(row); }
};

}  // namespace sluice
