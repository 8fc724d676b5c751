#include "lib/respond/answer/edns_query.hpp"

#include "lib/l7/byte_reader.hpp"
#include "lib/l7/dns/dns_message.hpp"

namespace sluice {
namespace {

constexpr std::uint16_t kCookieOption = 10;
constexpr std::size_t kOptionHead = 4;  // code and length

// A client's part alone, or with a server's behind it (RFC 7873, 4).
constexpr bool is_cookie_size(std::size_t size) noexcept {
    return size == 8 || (size >= 16 && size <= 40);
}

// Steps over a name, which a pointer ends too. False: it does not end.
bool skip_name(ByteReader& reader) noexcept {
    while (reader.ok()) {
        const std::uint8_t size = reader.u8();
        if (size == 0) {
            return reader.ok();
        }
        if (size >= 0xC0) {
            (void)reader.u8();
            return reader.ok();
        }
        if (size > 63) {
            return false;
        }
        (void)reader.take(size);
    }
    return false;
}

struct DnsRecord {
    bool is_of_root = false;  // its name
    std::uint16_t type = 0;
    std::uint32_t ttl = 0;
    ByteView data;
};

// nullopt: it does not fit.
std::optional<DnsRecord> read_record(ByteReader& reader) noexcept {
    DnsRecord record;
    record.is_of_root = reader.left() != 0 && reader.rest().front() == std::byte{0};
    if (!skip_name(reader)) {
        return std::nullopt;
    }
    record.type = reader.be16();
    (void)reader.be16();
    record.ttl = reader.be32();
    record.data = reader.part16();
    return reader.ok() ? std::optional{record} : std::nullopt;
}

void read_options(ByteView data, EdnsQuery& edns) noexcept {
    ByteReader reader{data};
    while (reader.ok() && reader.left() != 0) {
        const ByteView rest = reader.rest();
        const std::uint16_t code = reader.be16();
        const ByteView value = reader.part16();
        if (reader.ok() && code == kCookieOption && edns.cookie.empty()) {
            edns.cookie = rest.first(kOptionHead + value.size());
            edns.is_malformed |= !is_cookie_size(value.size());
        }
    }
    edns.is_malformed |= !reader.ok();
}

EdnsQuery edns_of(const DnsRecord& opt) noexcept {
    EdnsQuery edns{.is_version_0 = (opt.ttl >> 16 & 0xFF) == 0,
                   .dnssec_ok = (opt.ttl & kDnssecOk) != 0};
    // Options of other versions may have another form.
    if (edns.is_version_0) {
        read_options(opt.data, edns);
    }
    return edns;
}

}  // namespace

std::optional<EdnsQuery> find_edns(ByteView query, std::size_t at) noexcept {
    const DnsHeader header{query};
    const unsigned before = unsigned{header.answers} + header.authorities;
    std::optional<EdnsQuery> found;
    ByteReader reader{query.subspan(at)};
    for (unsigned i = 0; i < before + header.additionals; ++i) {
        const std::optional<DnsRecord> record = read_record(reader);
        if (!record) {
            return found;
        }
        if (i < before || record->type != kTypeOpt || !record->is_of_root) {
            continue;
        }
        if (found) {
            found->is_malformed = true;
            return found;
        }
        found = edns_of(*record);
    }
    return found;
}

}  // namespace sluice
