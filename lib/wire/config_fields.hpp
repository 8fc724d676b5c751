#pragma once
#include "lib/base/config_key.hpp"
#include "lib/packet/tunnels.hpp"
#include "lib/rules/cluster_options.hpp"
#include "lib/wire/archive.hpp"

// Fields of structs whose members are keys of a configuration file, by the rows of these.
namespace sluice {

void serialize(auto& archive, Of<TunnelPort> auto& m) {
    archive(m.port);
    archive.word(m.tunnel, UdpTunnel::Gtpu);
}
void serialize(auto& archive, Of<Tunnels> auto& m) {
    for (const TunnelRow& row : kTunnels) {
        archive(m.*row.followed);
    }
    archive(m.others);
}

void serialize(auto& archive, Of<ServerAddress> auto& m) {
    archive(m.host, m.port);
}

// The members of a table's rows, in their order.
template <typename... Rows>
void serialize_keys(auto& archive, const std::tuple<Rows...>& rows, auto& m) {
    for_each_key(rows, [&](const auto& row) {
        if constexpr (requires { row.rows; }) {
            serialize_keys(archive, row.rows, m);
        } else if constexpr (requires { row.form.words; }) {
            auto& word = m.*row.member;
            archive.word(word, static_cast<std::remove_cvref_t<decltype(word)>>(row.form.last()));
        } else if constexpr (requires { row.member; }) {
            archive(m.*row.member);
        }
    });
}
template <typename Options>
    requires HasConfigKeys<std::remove_const_t<Options>>
void serialize(auto& archive, Options& m) {
    serialize_keys(archive, kConfigKeys<std::remove_const_t<Options>>, m);
}

}  // namespace sluice
