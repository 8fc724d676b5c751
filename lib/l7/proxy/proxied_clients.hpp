#pragma once
#include "lib/l7/proxy/client_source.hpp"
#include "lib/match/address_set.hpp"
#include "lib/packet/header_columns.hpp"
#include "lib/packet/text_field.hpp"

#include <cstdint>
#include <string>

namespace sluice {

// The client of a request where proxies stand before the box: client.ip is ip.src, but of a request
// that a trusted proxy sends it is what a header says, and of all else that one sends there is
// none.
class ProxiedClients {
public:
    // Nobody but headers of the PROXY protocol names clients.
    ProxiedClients();
    // The proxies of `source` are sound.
    explicit ProxiedClients(const ClientSource& source)
        : proxies_{source.proxies}, header_{source.header}, hops_{source.hops} {}

    // Hides the rows that a trusted proxy sent, and returns them. The others get their client.
    [[nodiscard]] RowMask hide(HeaderColumns& columns, RowMask rows) const noexcept;
    // Takes the client of these rows, until one is named.
    static void hide_all(HeaderColumns& columns, RowMask rows) noexcept {
        columns.present[static_cast<std::size_t>(HeaderPart::Client)] &= ~rows;
    }
    [[nodiscard]] bool is_proxy(const VersionedAddress& address) const noexcept {
        return proxies_.has(address);
    }
    // The client of a request of a trusted proxy. False: the header names none.
    [[nodiscard]] bool name(UnitTexts& request) const noexcept;

    // The name of the header that a parser keeps the last of as kClientHeader; empty: there is
    // none.
    [[nodiscard]] const std::string& header() const noexcept { return header_; }

private:
    AddressSet proxies_;
    std::string header_;
    std::uint8_t hops_ = 1;
};

}  // namespace sluice
