// For rte_vect_set_max_simd_bitwidth().
#define ALLOW_EXPERIMENTAL_API
#include "tests/bench/rte_acl_reference.hpp"

#include "lib/packet/ip_address.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <rte_acl.h>
#include <rte_vect.h>

namespace sluice::bench {
namespace {

enum AclField : std::uint8_t {
    kProto,
    kDst,
    kSport,
    kDport,
    kIpLen,
    kPayloadLen,
    kTtl,
    kDscp,
    kVersionAndFrag,
    kTcpRst,
    kAclFields
};

constexpr rte_acl_field_def kDefinitions[] = {
    {RTE_ACL_FIELD_TYPE_BITMASK, 1, kProto, 0, offsetof(AclInput, proto)},
    {RTE_ACL_FIELD_TYPE_MASK, 4, kDst, 1, offsetof(AclInput, dst)},
    {RTE_ACL_FIELD_TYPE_RANGE, 2, kSport, 2, offsetof(AclInput, sport)},
    {RTE_ACL_FIELD_TYPE_RANGE, 2, kDport, 2, offsetof(AclInput, dport)},
    {RTE_ACL_FIELD_TYPE_RANGE, 2, kIpLen, 3, offsetof(AclInput, ip_len)},
    {RTE_ACL_FIELD_TYPE_RANGE, 2, kPayloadLen, 3, offsetof(AclInput, payload_len)},
    {RTE_ACL_FIELD_TYPE_RANGE, 1, kTtl, 4, offsetof(AclInput, ttl)},
    {RTE_ACL_FIELD_TYPE_RANGE, 1, kDscp, 4, offsetof(AclInput, dscp)},
    {RTE_ACL_FIELD_TYPE_BITMASK, 1, kVersionAndFrag, 4, offsetof(AclInput, version_and_frag)},
    {RTE_ACL_FIELD_TYPE_RANGE, 1, kTcpRst, 4, offsetof(AclInput, tcp_rst)},
};
static_assert(std::size(kDefinitions) == kAclFields);

RTE_ACL_RULE_DEF(AclRule, kAclFields);

void require(bool good, const char* what, std::string_view of) {
    if (!good) {
        std::fprintf(stderr, "rte_acl: %s: %.*s\n", what, static_cast<int>(of.size()), of.data());
        std::exit(1);
    }
}

// Anything at all.
AclRule any_packet() {
    AclRule rule{};
    for (const rte_acl_field_def& field : kDefinitions) {
        if (field.type == RTE_ACL_FIELD_TYPE_RANGE) {
            rule.field[field.field_index].mask_range.u32 = field.size == 1 ? 0xFF : 0xFFFF;
        }
    }
    return rule;
}

// `name ge 5`: narrows the range of one field.
void narrow(AclRule& rule, std::string_view comparison) {
    struct Named {
        std::string_view name;
        AclField field;
    };
    constexpr Named kNamed[] = {{"l4.sport", kSport}, {"l4.dport", kDport},
                                {"ip.len", kIpLen},   {"payload.len", kPayloadLen},
                                {"ip.ttl", kTtl},     {"ip.dscp", kDscp}};
    for (const Named& named : kNamed) {
        if (!comparison.starts_with(std::string{named.name} + " ")) {
            continue;
        }
        const std::string_view how = comparison.substr(named.name.size() + 1, 2);
        const auto number = static_cast<std::uint32_t>(std::strtoul(
            std::string{comparison.substr(named.name.size() + 4)}.c_str(), nullptr, 10));
        rte_acl_field& field = rule.field[named.field];
        if (how == "ge" || how == "gt") {
            field.value.u32 = number + (how == "gt" ? 1 : 0);
        } else {
            require(how == "le" || how == "lt", "cannot compare", comparison);
            field.mask_range.u32 = number - (how == "lt" ? 1 : 0);
        }
        return;
    }
    require(false, "cannot express", comparison);
}

void add_condition(AclRule& rule, std::string_view condition) {
    const auto set_bits = [&](AclField field, std::uint8_t value, std::uint8_t mask) {
        rule.field[field].value.u32 |= value;
        rule.field[field].mask_range.u32 |= mask;
    };
    constexpr std::string_view kNetworkOf = "ip.dst in {";
    constexpr std::string_view kProtoOf = "ip.proto eq ";
    if (condition.starts_with(kNetworkOf)) {
        const auto prefix = parse_prefix(
            condition.substr(kNetworkOf.size(), condition.find('}') - kNetworkOf.size()));
        require(prefix.has_value(), "no prefix", condition);
        std::uint32_t network = 0;
        std::memcpy(&network, prefix->address.bytes.data(), sizeof(network));
        rule.field[kDst].value.u32 = __builtin_bswap32(network);
        rule.field[kDst].mask_range.u32 = prefix->length;
    } else if (condition.starts_with(kProtoOf)) {
        const std::string number{condition.substr(kProtoOf.size())};
        set_bits(kProto, static_cast<std::uint8_t>(std::strtoul(number.c_str(), nullptr, 10)),
                 0xFF);
    } else if (condition == "ip.version eq 6") {
        set_bits(kVersionAndFrag, 0x60, 0xF0);
    } else if (condition == "ip.frag eq \"none\"") {
        set_bits(kVersionAndFrag, 0, 0x0F);
    } else if (condition == "not tcp.flags.rst") {
        rule.field[kTcpRst].mask_range.u32 = 0;
    } else {
        narrow(rule, condition);
    }
}

AclRule rule_of(std::string_view when, std::uint32_t number) {
    AclRule rule = any_packet();
    constexpr std::string_view kAnd = " and ";
    for (std::string_view rest = when; !rest.empty();) {
        const std::size_t end = rest.find(kAnd);
        add_condition(rule, rest.substr(0, end));
        rest = end == std::string_view::npos ? "" : rest.substr(end + kAnd.size());
    }
    rule.data.category_mask = when.find("l4.sport") != std::string_view::npos ? 2 : 1;
    rule.data.priority = 1;
    rule.data.userdata = number + 1;
    return rule;
}

// The conditions of a rule file, in order.
std::vector<AclRule> rules_of(std::string_view file) {
    constexpr std::string_view kWhen = "    when: '";
    std::vector<AclRule> rules;
    for (std::size_t at = file.find(kWhen); at != std::string_view::npos;
         at = file.find(kWhen, at + 1)) {
        const std::size_t begin = at + kWhen.size();
        rules.push_back(rule_of(file.substr(begin, file.find('\'', begin) - begin),
                                static_cast<std::uint32_t>(rules.size())));
    }
    return rules;
}

}  // namespace

struct RteAcl::State {
    rte_acl_ctx* context = nullptr;
};

std::vector<RteAcl::Form> RteAcl::forms() {
    (void)rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
    std::vector<Form> here;
    rte_acl_param param{"forms", 0, sizeof(AclRule), 1};
    rte_acl_ctx* const context = rte_acl_create(&param);
    for (const Form& form : {Form{"SSE", RTE_ACL_CLASSIFY_SSE}, Form{"AVX2", RTE_ACL_CLASSIFY_AVX2},
                             Form{"AVX-512, 16 flows", RTE_ACL_CLASSIFY_AVX512X16},
                             Form{"AVX-512, 32 flows", RTE_ACL_CLASSIFY_AVX512X32}}) {
        if (rte_acl_set_ctx_classify(context,
                                     static_cast<enum rte_acl_classify_alg>(form.algorithm)) == 0) {
            here.push_back(form);
        }
    }
    rte_acl_free(context);
    return here;
}

RteAcl::RteAcl(const std::string& rules, const Form& form) : state_{std::make_unique<State>()} {
    static int contexts = 0;
    const std::vector<AclRule> all = rules_of(rules);
    const std::string name = "acl" + std::to_string(contexts++);
    rte_acl_param param{name.c_str(), 0, sizeof(AclRule), static_cast<std::uint32_t>(all.size())};
    state_->context = rte_acl_create(&param);
    require(state_->context != nullptr, "no context", name);
    require(rte_acl_add_rules(state_->context, reinterpret_cast<const rte_acl_rule*>(all.data()),
                              static_cast<std::uint32_t>(all.size())) == 0,
            "refuses the rules", name);
    rte_acl_config config{};
    config.num_categories = kCategories;
    config.num_fields = kAclFields;
    std::memcpy(config.defs, kDefinitions, sizeof(kDefinitions));
    require(rte_acl_build(state_->context, &config) == 0, "cannot build", name);
    require(rte_acl_set_ctx_classify(state_->context,
                                     static_cast<enum rte_acl_classify_alg>(form.algorithm)) == 0,
            "has no such form", form.name);
}

RteAcl::~RteAcl() {
    rte_acl_free(state_->context);
}

void RteAcl::classify(std::span<const std::uint8_t* const> inputs, std::uint32_t* found) const {
    // It does not write its inputs; its interface has no const.
    (void)rte_acl_classify(state_->context, const_cast<const std::uint8_t**>(inputs.data()), found,
                           static_cast<std::uint32_t>(inputs.size()), kCategories);
}

}  // namespace sluice::bench
