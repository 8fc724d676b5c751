#include "lib/wire/box_config_codec.hpp"

#include "lib/wire/archive.hpp"
#include "lib/wire/unit_options_fields.hpp"

#include <string>

namespace sluice {

void serialize(auto& archive, Of<PortConfig> auto& m) {
    archive(m.device, m.queues);
    archive.word(m.rss, Rss::SourcePrefix);
}
void serialize(auto& archive, Of<PairConfig> auto& m) {
    archive(m.name, m.outside, m.inside, m.mtu, m.link_follow, m.hand_over);
}
void serialize(auto& archive, Of<SocketOptions> auto& m) {
    archive(m.path, m.mode, m.owner, m.group);
}
void serialize(auto& archive, Of<KernelOptions> auto& m) {
    archive.word(m.fail, KernelFail::Closed);
    archive.word(m.mode, KernelMode::Generic);
    archive(m.heartbeat, m.pins, m.early_drop);
}
void serialize(auto& archive, Of<ManagedService> auto& m) {
    archive(m.proto, m.port);
}
template <typename Archive>
void serialize(Archive& archive, Of<VersionedAddress> auto& m) {
    archive.word(m.version, IpVersion::V6);
    archive(m.address.bytes);
    archive.check(m.version == IpVersion::V4 || m.version == IpVersion::V6);
}
void serialize(auto& archive, Of<ManagementOptions> auto& m) {
    archive(m.allow, m.to, m.rate);
}
void serialize(auto& archive, Of<BoxConfig> auto& m) {
    archive(m.pairs, m.lcores, m.watchdog_stall, m.idle_sleep, m.merge_interval);
    archive.word(m.huge_pages, HugePages::None);
    archive(m.mbufs, m.held_percent, m.table_keys, m.state_dir, m.snapshot_file, m.snapshot_every);
    archive.word(m.malformed, MalformedPolicy::Pass);
    archive(m.tunnels.gre, m.tunnels.vxlan, m.tunnels.ipip, m.units, m.control, m.read_only,
            m.dataplane, m.user, m.database_key, m.rules, m.kernel, m.management);
    archive.word(m.on_no_rules, OnNoRules::Drop);
    archive.word(m.log_level, LogLevel::Error);
    archive.word(m.log_format, LogFormat::Journal);
}

std::vector<std::byte> encode(const BoxConfig& config) {
    Writer out;
    out(kBoxConfigVersion, config);
    return out.take();
}

Result<BoxConfig> decode_box_config(ByteView bytes) {
    if (bytes.size() > kMaxBoxConfigSize) {
        return Error{Errc::BadSyntax, "the configuration is larger than 1 MiB"};
    }
    Reader in{bytes};
    std::uint32_t version = 0;
    in(version);
    if (in.ok() && version != kBoxConfigVersion) {
        return Error{Errc::BadSyntax, "the configuration is of version " + std::to_string(version) +
                                          ", and this reads version " +
                                          std::to_string(kBoxConfigVersion)};
    }
    BoxConfig config;
    in(config);
    if (!in.finished()) {
        return Error{Errc::BadSyntax, "the configuration is cut off, or is none"};
    }
    if (const std::optional<std::string> fault = find_fault(config)) {
        return Error{Errc::OutOfRange, "the configuration is not sound: " + *fault};
    }
    return config;
}

}  // namespace sluice
