#include "tests/pktgen/profile.hpp"

#include <algorithm>
#include <utility>

namespace sluice::pktgen {
namespace {

constexpr SourceCount kClients{.bits = 12};
constexpr SourceCount kBots{.bits = 16};
constexpr SourceCount kReflectors{.bits = 12};
constexpr SourceCount kSpoofed{.is_new = true};

constexpr PacketKind kUdp{.sources = kClients};
constexpr PacketKind kSynFlood{.transport = Transport::Tcp,
                               .dport = 443,
                               .tcp_flags = kSyn,
                               .sources = kSpoofed,
                               .is_bare = true};
constexpr PacketKind kAckFlood{.transport = Transport::Tcp,
                               .dport = 443,
                               .tcp_flags = kAck,
                               .sources = kSpoofed,
                               .is_bare = true};
constexpr PacketKind kUdpFlood{.dport = 27015, .sources = kBots};
constexpr PacketKind kSpoofedFlood{.dport = 27015, .sources = kSpoofed};
constexpr PacketKind kIcmpFlood{.transport = Transport::Icmp, .sources = kBots};
constexpr PacketKind kDnsReflected{
    .sport = 53, .dport = 40000, .contents = dns_large_answer, .sources = kReflectors};
constexpr PacketKind kNtpReflected{
    .sport = 123, .dport = 40000, .contents = ntp_monlist_answer, .sources = kReflectors};
constexpr PacketKind kDnsQuery{.dport = 53, .contents = dns_query, .sources = kClients};
constexpr PacketKind kHttpGet{.transport = Transport::Tcp,
                              .dport = 80,
                              .tcp_flags = kPushAck,
                              .contents = http_get,
                              .sources = kClients,
                              .is_new_connection = true};
constexpr PacketKind kTlsHello{.transport = Transport::Tcp,
                               .dport = 443,
                               .tcp_flags = kPushAck,
                               .contents = tls_client_hello,
                               .sources = kClients,
                               .is_new_connection = true};
constexpr PacketKind kBulk{
    .transport = Transport::Tcp, .dport = 443, .tcp_flags = kAck, .sources = kClients};
constexpr PacketKind kFirstFragment{.sources = kClients, .fragment = {Fragment::Part::First}};
constexpr PacketKind kLaterFragment{.sources = kClients, .fragment = {Fragment::Part::Later}};
constexpr PacketKind kLaterFlood{.sources = kSpoofed, .fragment = {Fragment::Part::Later}};
constexpr PacketKind kFirstOverlapped{.sources = kSpoofed, .fragment = {Fragment::Part::First, 2}};
constexpr PacketKind kLaterOverlapping{.sources = kSpoofed, .fragment = {Fragment::Part::Later, 2}};
constexpr PacketKind kNotIp{.transport = Transport::NotIp};

PacketKind share(PacketKind kind, unsigned percent) {
    kind.percent = percent;
    return kind;
}

// What a busy service receives on a quiet day.
std::vector<PacketKind> benign(unsigned percent) {
    const unsigned part = percent / 5;
    return {share(kBulk, percent - 4 * part), share(kHttpGet, part), share(kTlsHello, part),
            share(kDnsQuery, part), share(kUdp, part)};
}

std::vector<PacketKind> benign_under(const PacketKind& attack) {
    std::vector<PacketKind> kinds = benign(20);
    kinds.push_back(share(attack, 80));
    return kinds;
}

std::vector<Profile> make_profiles() {
    return {
        {"udp", "UDP to port 9, one flow for each source", {kUdp}},
        {"imix", "the same in sizes of 64, 594 and 1518 bytes, 7 : 4 : 1", {kUdp}, true},
        {"udp_flood", "UDP to port 27015 from 2^16 sources", {kUdpFlood}},
        {"udp_flood_spoofed", "the same, every packet from a new source", {kSpoofedFlood}},
        {"syn_flood", "TCP SYN to port 443, every one from a new source", {kSynFlood}},
        {"ack_flood", "TCP ACK of no connection, every one from a new source", {kAckFlood}},
        {"icmp_flood", "echo requests from 2^16 sources", {kIcmpFlood}},
        {"dns_amplification", "large DNS answers from 2^12 resolvers", {kDnsReflected}},
        {"ntp_amplification", "monlist answers from 2^12 NTP servers", {kNtpReflected}},
        {"dns_query", "A queries for one name", {kDnsQuery}},
        {"http_get", "GET requests, each the first segment of a connection", {kHttpGet}},
        {"tls_hello",
         "ClientHellos with a server name, each of a connection of its own",
         {kTlsHello}},
        {"fragments",
         "UDP datagrams in two fragments, of which the first has the ports",
         {share(kFirstFragment, 50), share(kLaterFragment, 50)}},
        {"fragment_flood", "second fragments alone, every one from a new source", {kLaterFlood}},
        {"fragment_overlap",
         "datagrams whose second fragment begins before the first one ends, all from new sources",
         {share(kFirstOverlapped, 50), share(kLaterOverlapping, 50)}},
        {"not_ip", "frames of an experimental EtherType, which no rule judges", {kNotIp}},
        {"benign", "bulk TCP, HTTP, TLS, DNS and UDP in equal parts", benign(100)},
        {"mix_syn_flood", "a fifth benign, the rest syn_flood", benign_under(kSynFlood)},
        {"mix_udp_flood", "a fifth benign, the rest udp_flood_spoofed",
         benign_under(kSpoofedFlood)},
        {"mix_dns_amplification", "a fifth benign, the rest dns_amplification",
         benign_under(kDnsReflected)},
    };
}

}  // namespace

std::span<const Profile> all_profiles() {
    static const std::vector<Profile> profiles = make_profiles();
    return profiles;
}

const Profile* find_profile(std::string_view name) {
    const auto profiles = all_profiles();
    const auto found = std::ranges::find(profiles, name, &Profile::name);
    return found == profiles.end() ? nullptr : &*found;
}

}  // namespace sluice::pktgen
