#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sluice::bench {

// What rte_acl classifies: the fields that the rules of rule_mix.hpp ask, side by side. Fields of
// several bytes are in network order.
struct AclInput {
    std::uint8_t proto = 0;  // rte_acl's first field has one byte
    std::array<std::uint8_t, 3> unused{};
    std::uint32_t dst = 0;
    std::uint16_t sport = 0;
    std::uint16_t dport = 0;
    std::uint16_t ip_len = 0;
    std::uint16_t payload_len = 0;
    std::uint8_t ttl = 0;
    std::uint8_t dscp = 0;
    std::uint8_t version_and_frag = 0;  // version above, fragment kind below
    std::uint8_t tcp_rst = 0;           // 1: the flag is there and set
};

// rte_acl with the conditions of a rule file made by mixed_rules(), every one expressed exactly but
// for IPv6 packets, which have no place in an AclInput. The mix divides its rules into two kinds,
// by destination and by source port, of which a packet matches one each: they are two categories,
// so that one look-up gives both. Needs an initialised EAL.
class RteAcl {
public:
    static constexpr std::size_t kCategories = 4;  // rte_acl's least beyond one
    static constexpr std::uint32_t kNone = 0;

    // By vector width; what this CPU has of them.
    struct Form {
        const char* name;
        int algorithm;
    };
    [[nodiscard]] static std::vector<Form> forms();

    // Ends the program when a rule cannot be expressed, or DPDK refuses it.
    RteAcl(const std::string& rules, const Form& form);
    ~RteAcl();
    RteAcl(const RteAcl&) = delete;
    RteAcl& operator=(const RteAcl&) = delete;

    // For each input, by category, the number of the rule that matches plus one, or kNone.
    void classify(std::span<const std::uint8_t* const> inputs, std::uint32_t* found) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice::bench
