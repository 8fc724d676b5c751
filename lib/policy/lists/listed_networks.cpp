#include "lib/policy/lists/listed_networks.hpp"

#include "lib/policy/lists/named_lists.hpp"
#include "lib/policy/values/network_text.hpp"
#include "lib/policy/values/range_set.hpp"

namespace sluice {
namespace {

void add_list(const YamlNode& item, NamedLists& lists, ListedNetworks& networks,
              const ReadContext& context) {
    const std::string name = item.text.substr(1);
    const NamedList* list = lists.find(name);
    if (list == nullptr) {
        context.problems.error(item.at, "there is no list called `" + name + "` in `data: lists`" +
                                            lists.nearest_to(name));
        return;
    }
    if (list->values.type != ListType::Cidr) {
        context.problems.error(item.at, "`$" + name + "` is no list of addresses and networks");
        return;
    }
    networks.v4.insert(networks.v4.end(), list->values.v4.begin(), list->values.v4.end());
    networks.v6.insert(networks.v6.end(), list->values.v6.begin(), list->values.v6.end());
}

}  // namespace

void ListedNetworks::merge() {
    normalise(v4);
    normalise(v6);
}

void add_networks(const YamlNode& item, NamedLists& lists, ListedNetworks& networks,
                  const ReadContext& context) {
    if (item.is_scalar() && item.text.starts_with('$')) {
        add_list(item, lists, networks, context);
        return;
    }
    const Result<IpPrefix> network = parse_network(item.is_scalar() ? item.text : "");
    if (network) {
        (network->version == IpVersion::V4 ? networks.v4 : networks.v6)
            .push_back(range_of(*network));
    } else {
        context.problems.error(item.at, network.error().code == Errc::OutOfRange
                                            ? network.error().what
                                            : "expected an address, a network such as "
                                              "192.0.2.0/24 or a $list, found " +
                                                  kind_name(item));
    }
}

}  // namespace sluice
