#include "lib/l7/proxy/proxied_clients.hpp"

#include "lib/l7/http1/forwarded_client.hpp"

namespace sluice {

ProxiedClients::ProxiedClients() : proxies_{{.steps = {{0, 0}}, .v6_steps = {{0, 0}}}} {}

RowMask ProxiedClients::hide(HeaderColumns& columns, RowMask rows) const noexcept {
    rows &= columns.present_rows(HeaderPart::Ip);
    const RowMask proxied = proxies_.sources(columns, rows);
    columns.add_present(HeaderPart::Client, rows & ~proxied);
    return proxied;
}

bool ProxiedClients::name(UnitTexts& request) const noexcept {
    if (!request.has(kClientHeader)) {
        return false;
    }
    const std::optional<VersionedAddress> client =
        forwarded_client(request.text(kClientHeader), hops_);
    if (client) {
        request.set_client(*client);
    }
    return client.has_value();
}

}  // namespace sluice
