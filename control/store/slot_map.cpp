#include "control/store/slot_map.hpp"

#include <algorithm>
#include <charconv>
#include <span>

#include <hiredis/hiredis.h>

namespace sluice {
namespace {

constexpr std::size_t kMostRanges = kHashSlots;

// CRC-16/XMODEM, as the specification of Redis Cluster has it.
std::uint16_t crc16(std::string_view bytes) noexcept {
    constexpr unsigned kPolynomial = 0x1021;
    constexpr unsigned kTop = 0x8000;
    unsigned crc = 0;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned>(static_cast<unsigned char>(byte)) << 8;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc & kTop) != 0 ? (crc << 1) ^ kPolynomial : crc << 1;
        }
    }
    return static_cast<std::uint16_t>(crc & 0xFFFF);
}

Error no_places() {
    return {Errc::BadSyntax, "where its primaries are is told in a form of its own"};
}

std::string_view text_of(const redisReply& reply) {
    const bool text = reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS;
    return text ? std::string_view{reply.str, reply.len} : std::string_view{};
}

std::span<redisReply* const> parts_of(const redisReply& reply) {
    return reply.type == REDIS_REPLY_ARRAY
               ? std::span<redisReply* const>{reply.element, reply.elements}
               : std::span<redisReply* const>{};
}

std::optional<std::uint16_t> whole_number(long long value, long long most) {
    return value >= 0 && value <= most ? std::optional{static_cast<std::uint16_t>(value)}
                                       : std::nullopt;
}

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
    const bool whole = problem == std::errc{} && end == text.data() + text.size() && port != 0;
    return whole ? std::optional{port} : std::nullopt;
}

// A host, or nothing of one, and its port.
std::optional<ServerAddress> node_of(const redisReply& reply, const ServerAddress& asked) {
    const auto parts = parts_of(reply);
    if (parts.size() < 2 || parts[1]->type != REDIS_REPLY_INTEGER) {
        return std::nullopt;
    }
    const std::string_view host = text_of(*parts[0]);
    const auto port = whole_number(parts[1]->integer, UINT16_MAX);
    const bool unknown = host.empty() || host == "?";
    if (!port || *port == 0 || (!unknown && !is_server_host(host))) {
        return std::nullopt;
    }
    return ServerAddress{unknown ? asked.host : std::string{host}, *port};
}

}  // namespace

std::uint16_t hash_slot(std::string_view key) noexcept {
    const std::size_t open = key.find('{');
    const std::size_t close = open == std::string_view::npos ? open : key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) {
        key = key.substr(open + 1, close - open - 1);
    }
    return static_cast<std::uint16_t>(crc16(key) % kHashSlots);
}

SlotMap SlotMap::all_at(ServerAddress primary) {
    SlotMap map;
    map.ranges_.push_back({.first = 0, .last = kHashSlots - 1, .primary = std::move(primary)});
    return map;
}

Result<SlotMap> SlotMap::read(const redisReply& reply, const ServerAddress& asked) {
    SlotMap map;
    const auto ranges = parts_of(reply);
    if (reply.type != REDIS_REPLY_ARRAY || ranges.size() > kMostRanges) {
        return no_places();
    }
    for (const redisReply* each : ranges) {
        const auto parts = parts_of(*each);
        const bool whole = parts.size() >= 3 && parts[0]->type == REDIS_REPLY_INTEGER &&
                           parts[1]->type == REDIS_REPLY_INTEGER;
        const auto first = whole ? whole_number(parts[0]->integer, kHashSlots - 1) : std::nullopt;
        const auto last = whole ? whole_number(parts[1]->integer, kHashSlots - 1) : std::nullopt;
        std::optional<ServerAddress> primary = whole ? node_of(*parts[2], asked) : std::nullopt;
        if (!first || !last || !primary) {
            return no_places();
        }
        map.ranges_.push_back({*first, *last, *std::move(primary)});
    }
    return map;
}

const ServerAddress* SlotMap::primary_of(std::uint16_t slot) const noexcept {
    const auto found = std::ranges::find_if(
        ranges_, [&](const Range& range) { return slot >= range.first && slot <= range.last; });
    return found == ranges_.end() ? nullptr : &found->primary;
}

std::vector<ServerAddress> SlotMap::primaries() const {
    std::vector<ServerAddress> all;
    for (const Range& range : ranges_) {
        if (std::ranges::find(all, range.primary) == all.end()) {
            all.push_back(range.primary);
        }
    }
    return all;
}

// "MOVED 3999 192.0.2.1:6381"
std::optional<Redirection> redirection_of(std::string_view error) {
    const bool once = error.starts_with("ASK ");
    if (!once && !error.starts_with("MOVED ")) {
        return std::nullopt;
    }
    const std::string_view address = error.substr(error.rfind(' ') + 1);
    const std::size_t colon = address.rfind(':');
    const auto port =
        colon == std::string_view::npos ? std::nullopt : port_of(address.substr(colon + 1));
    const std::string_view host = address.substr(0, colon);
    Redirection redirection{.once = once, .to = std::nullopt};
    if (port && is_server_host(host)) {
        redirection.to = ServerAddress{std::string{host}, *port};
    }
    return redirection;
}

Result<std::optional<ServerAddress>> sentinel_answer(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_NIL) {
        return std::optional<ServerAddress>{};
    }
    const auto parts = parts_of(reply);
    const auto port = parts.size() == 2 ? port_of(text_of(*parts[1])) : std::nullopt;
    if (!port || !is_server_host(text_of(*parts[0]))) {
        return no_places();
    }
    return std::optional{ServerAddress{std::string{text_of(*parts[0])}, *port}};
}

}  // namespace sluice
