#pragma once
#include "lib/packet/ip_address.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// MMDB files as tests need them, written by the specification: small trees, any record, and
// everything that may be wrong with them.
namespace sluice::test {

// Values, as their bytes.
namespace mmdb {

inline std::string head(unsigned type, std::size_t size) {
    std::string bytes;
    const bool extended = type > 7;
    const std::size_t short_size = size < 29 ? size : size < 285 ? 29 : size < 65'821 ? 30 : 31;
    bytes += static_cast<char>((extended ? 0 : type) << 5 | short_size);
    if (extended) {
        bytes += static_cast<char>(type - 7);
    }
    constexpr std::array<std::size_t, 3> kBeyond{29, 285, 65'821};
    for (std::size_t i = short_size - 28; short_size >= 29 && i-- > 0;) {
        bytes += static_cast<char>((size - kBeyond[short_size - 29]) >> (8 * i));
    }
    return bytes;
}
inline std::string text(std::string_view value) {
    return head(2, value.size()) + std::string{value};
}
inline std::string number(std::uint64_t value, unsigned type = 6) {
    std::string bytes;
    for (; value != 0; value >>= 8) {
        bytes.insert(bytes.begin(), static_cast<char>(value));
    }
    return head(type, bytes.size()) + bytes;
}
inline std::string pointer(std::uint32_t offset) {
    std::string bytes{static_cast<char>(0x38)};
    for (unsigned i = 4; i-- > 0;) {
        bytes += static_cast<char>(offset >> (8 * i));
    }
    return bytes;
}
// Keys and values by turns, each as its bytes.
inline std::string map(const std::vector<std::string>& pairs) {
    std::string bytes = head(7, pairs.size() / 2);
    for (const std::string& one : pairs) {
        bytes += one;
    }
    return bytes;
}
inline std::string array(const std::vector<std::string>& items) {
    std::string bytes = head(11, items.size());
    for (const std::string& one : items) {
        bytes += one;
    }
    return bytes;
}
inline std::string country(std::string_view code) {
    return map({text("continent"), map({text("code"), text("EU")}), text("country"),
                map({text("geoname_id"), number(1234), text("iso_code"), text(code)}),
                text("registered_country"), map({text("iso_code"), text("ZZ")})});
}
inline std::string asn(std::uint64_t value) {
    return map({text("autonomous_system_number"), number(value),
                text("autonomous_system_organization"), text("Example")});
}

}  // namespace mmdb

class MmdbBytes {
public:
    struct Options {
        unsigned ip_version = 6;
        unsigned record_size = 24;
        std::string type = "Test";
    };
    MmdbBytes() : MmdbBytes(Options{}) {}
    explicit MmdbBytes(Options options) : options_{std::move(options)}, nodes_(1) {}

    // All addresses of a network have this record; what is added later wins.
    MmdbBytes& add(std::string_view network, const std::string& record) {
        put(network, {Kind::Record, add_record(record)});
        return *this;
    }
    // A network leads to where ::/96 does.
    MmdbBytes& alias_of_v4(std::string_view network) {
        aliases_.emplace_back(network);
        return *this;
    }
    // A network leads to a node of this number, whatever that is.
    MmdbBytes& lead_to(std::string_view network, std::size_t node) {
        put(network, {Kind::Node, node});
        return *this;
    }
    // Leads a network to a record that begins there, counted from the first.
    MmdbBytes& lead_to_data(std::string_view network, std::size_t offset) {
        put(network, {Kind::Record, offset});
        return *this;
    }

    [[nodiscard]] std::string bytes() {
        for (const std::string& network : aliases_) {
            put(network, at(*parse("::/96")));
        }
        std::string all;
        for (const Node& node : nodes_) {
            append_node(all, node);
        }
        return all + std::string(16, '\0') + data_ + "\xAB\xCD\xEFMaxMind.com" + metadata();
    }
    [[nodiscard]] std::string metadata() const {
        using namespace mmdb;
        return map({text("node_count"), number(nodes_.size()), text("record_size"),
                    number(options_.record_size, 5), text("ip_version"),
                    number(options_.ip_version, 5), text("database_type"), text(options_.type),
                    text("languages"), array({text("en")}), text("binary_format_major_version"),
                    number(2, 5), text("binary_format_minor_version"), number(0, 5),
                    text("build_epoch"), number(1'700'000'000, 9), text("description"),
                    map({text("en"), text("for tests")})});
    }

private:
    enum class Kind : std::uint8_t { Empty, Node, Record };
    struct Target {
        Kind kind = Kind::Empty;
        std::size_t value = 0;
    };
    using Node = std::array<Target, 2>;
    struct Path {
        IpAddress address;
        unsigned length = 0;
    };

    [[nodiscard]] std::optional<Path> parse(std::string_view network) const {
        const std::size_t slash = network.find('/');
        const std::optional<VersionedAddress> address = parse_address(network.substr(0, slash));
        if (!address || slash == std::string_view::npos) {
            throw std::runtime_error("no network: " + std::string{network});
        }
        Path path{address->address,
                  static_cast<unsigned>(std::stoul(std::string{network.substr(slash + 1)}))};
        if (address->version == IpVersion::V4 && options_.ip_version == 6) {
            IpAddress whole{};
            std::copy_n(path.address.bytes.begin(), 4, whole.bytes.begin() + 12);
            path = {whole, path.length + 96};
        }
        return path;
    }
    static unsigned bit(const Path& path, unsigned number) {
        return std::to_integer<unsigned>(path.address.bytes[number / 8] >> (7 - number % 8)) & 1U;
    }
    [[nodiscard]] Target at(const Path& path) const {
        Target target{Kind::Node, 0};
        for (unsigned i = 0; i < path.length && target.kind == Kind::Node; ++i) {
            target = nodes_[target.value][bit(path, i)];
        }
        return target;
    }
    void put(std::string_view network, Target target) {
        const Path path = *parse(network);
        std::size_t node = 0;
        for (unsigned i = 0; i + 1 < path.length; ++i) {
            const Target next = nodes_[node][bit(path, i)];
            if (next.kind != Kind::Node) {
                nodes_.push_back({next, next});
                nodes_[node][bit(path, i)] = {Kind::Node, nodes_.size() - 1};
            }
            node = nodes_[node][bit(path, i)].value;
        }
        if (path.length == 0) {
            nodes_[0] = {target, target};
        } else {
            nodes_[node][bit(path, path.length - 1)] = target;
        }
    }
    std::size_t add_record(const std::string& record) {
        const std::size_t known = data_.find(record);
        if (known != std::string::npos) {
            return known;
        }
        data_ += record;
        return data_.size() - record.size();
    }

    [[nodiscard]] std::uint64_t record_of(const Target& target) const {
        switch (target.kind) {
            case Kind::Node:
                return target.value;
            case Kind::Record:
                return nodes_.size() + 16 + target.value;
            default:
                return nodes_.size();
        }
    }
    static void append(std::string& out, std::uint64_t value, unsigned bytes) {
        while (bytes-- > 0) {
            out += static_cast<char>(value >> (8 * bytes));
        }
    }
    void append_node(std::string& out, const Node& node) const {
        const std::uint64_t left = record_of(node[0]);
        const std::uint64_t right = record_of(node[1]);
        if (options_.record_size == 28) {
            append(out, left & 0xFF'FFFF, 3);
            append(out, (left >> 24) << 4 | (right >> 24), 1);
            append(out, right & 0xFF'FFFF, 3);
            return;
        }
        append(out, left, options_.record_size / 8);
        append(out, right, options_.record_size / 8);
    }

    Options options_;
    std::vector<Node> nodes_;
    std::vector<std::string> aliases_;
    std::string data_;
};

}  // namespace sluice::test
