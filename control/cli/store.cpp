#include "control/cli/box_config.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/json.hpp"
#include "control/store/function_text.hpp"
#include "control/store/store_console.hpp"
#include "control/visible_text.hpp"
#include "lib/policy/box/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace sluice {
namespace {

// No box speaks it: what it keeps is a few bytes, of `store check` alone.
constexpr std::uint16_t kPartitionOfChecks = 999;
constexpr std::uint64_t kUsPerSecond = 1'000'000;

struct StoreOfCluster {
    ClusterOptions cluster;
    StoreAccess access;
};

// Words of the command line win over the file, so that `init` may come with an admin's credentials.
Result<StoreOfCluster> store_of(const Options& options) {
    std::optional<BoxConfig> box = read_box_file(options.config_file);
    if (!box) {
        return Error{Errc::BadSyntax, ""};
    }
    if (!box->cluster || !box->cluster->store) {
        return Error{Errc::Refused, options.config_file + " names no cluster.store"};
    }
    ClusterStore& store = *box->cluster->store;
    if (!options.store.user.empty() || !options.store.password_file.empty()) {
        store.user = options.store.user;
        store.password_file = options.store.password_file;
    }
    Result<StoreAccess> access = open_access(store);
    if (!access) {
        return access.error();
    }
    return StoreOfCluster{*std::move(box->cluster), *std::move(access)};
}

Result<std::string> info_of(StoreConsole& console, const char* section) {
    return console.ask_text(std::array<std::string, 2>{"INFO", section});
}

ExitCode store_refusal(const Error& error) {
    return refuse(error.what,
                  error.code == Errc::Unreachable ? ExitCode::Unreached : ExitCode::Refused);
}

ExitCode init_store(StoreConsole& console) {
    const Result<std::string> loaded = console.ask_text(
        std::array<std::string, 4>{"FUNCTION", "LOAD", "REPLACE", std::string{kStoreFunction}});
    if (!loaded) {
        return store_refusal(loaded.error());
    }
    print(fmt::format("the function {} is at {}, revision {}\n", *loaded, console.address(),
                      kStoreFunctionRevision));
    return ExitCode::Done;
}

// A box's whole way, with its own rights: an amount of nothing is told under a key of its own.
std::optional<Error> try_amount(StoreConsole& console, const StoreOfCluster& store) {
    const StoreCaller caller{.size = 1, .incarnation = 1, .birth = 1};
    StoreBatch batch{.partition = kPartitionOfChecks, .seq = 1, .entries = {}};
    batch.entries.push_back({.digest = 1, .period_ns = kUsPerSecond, .parts = 1});
    for (int i = 0; i < 2; ++i) {
        const Result<RedisReplyOwner> reply =
            console.ask(sync_command(store.cluster.name, caller, batch));
        if (!reply) {
            return reply.error();
        }
        const Result<StoreAnswerTo> answer = sync_answer(**reply, batch);
        if (!answer) {
            return answer.error();
        }
        batch.seq = answer->last + 1;
    }
    return std::nullopt;
}

ExitCode check_store(StoreConsole& console, const StoreOfCluster& store) {
    const Result<std::string> memory = info_of(console, "memory");
    const Result<std::string> role = memory ? info_of(console, "replication") : memory;
    if (!role) {
        return store_refusal(role.error());
    }
    for (const std::optional<StoreFault>& fault :
         {memory_fault(*memory), role_fault(*role, store.cluster.durability)}) {
        if (fault) {
            return refuse(fault->why, ExitCode::Refused);
        }
    }
    const Result<StoreRoster> roster = read_roster(console, store.cluster.name);
    if (!roster) {
        return store_refusal(roster.error());
    }
    if (const std::optional<Error> fault = try_amount(console, store)) {
        return store_refusal(*fault);
    }
    if (roster->size != 0 && roster->size != store.cluster.size) {
        return refuse(fmt::format("the cluster has the size {} at the store, and {} here",
                                  roster->size, store.cluster.size),
                      ExitCode::Refused);
    }
    print(fmt::format(
        "{} is there: function sl1 revision {}, no key is evicted, {} replicas, {} "
        "of {} slots held\n",
        console.address(), roster->revision, visible_line(info_value(*role, "connected_slaves")),
        roster->slots.size(), store.cluster.size));
    return ExitCode::Done;
}

Json store_json(const StoreRoster& roster, std::uint64_t keys, const std::string& memory) {
    Json slots = Json::array();
    for (const RosterSlot& slot : roster.slots) {
        slots.push_back({{"slot", slot.slot},
                         {"node", slot.node},
                         {"incarnation", slot.incarnation},
                         {"seen_us", slot.seen_us}});
    }
    return {{"size", roster.size},
            {"revision", roster.revision},
            {"slots", slots},
            {"keys", keys},
            {"memory", memory}};
}

std::string store_text(const StoreRoster& roster, std::uint64_t keys, const std::string& memory) {
    std::string text = fmt::format("{} of {} slots are held, {} keys, {} of memory\n",
                                   roster.slots.size(), roster.size, keys, memory);
    for (const RosterSlot& slot : roster.slots) {
        const std::uint64_t ago = (roster.utc_us - std::min(roster.utc_us, slot.seen_us));
        text += fmt::format("{:>4}  {}  seen {} s ago, incarnation {}\n", slot.slot,
                            visible_line(slot.node), ago / kUsPerSecond, slot.incarnation);
    }
    return text;
}

ExitCode show_store(StoreConsole& console, const StoreOfCluster& store, bool json) {
    const Result<StoreRoster> roster = read_roster(console, store.cluster.name);
    if (!roster) {
        return store_refusal(roster.error());
    }
    std::uint64_t keys = 0;
    for (std::uint16_t partition = 0; partition < kStorePartitions; ++partition) {
        const Result<std::uint64_t> count = keys_of(console, store.cluster.name, partition);
        if (!count) {
            return store_refusal(count.error());
        }
        keys += *count;
    }
    const Result<std::string> memory = info_of(console, "memory");
    if (!memory) {
        return store_refusal(memory.error());
    }
    const std::string used = visible_line(info_value(*memory, "used_memory_human"));
    print(json ? dump_line(store_json(*roster, keys, used)) : store_text(*roster, keys, used));
    return ExitCode::Done;
}

ExitCode forget_node(StoreConsole& console, const StoreOfCluster& store, const std::string& node) {
    const Result<RedisReplyOwner> reply = console.ask(redis_command(std::array<std::string, 5>{
        "FCALL", "sl1_release", "1", roster_key(store.cluster.name), node}));
    if (!reply) {
        return store_refusal(reply.error());
    }
    const long long slot = integer_of(**reply);
    if (slot < 0) {
        return refuse(fmt::format("no slot is held by {}", node), ExitCode::Refused);
    }
    print(fmt::format("slot {} is free; {} joins again if it still runs\n", slot, node));
    return ExitCode::Done;
}

// The roster first: a slot that is held beyond the new size stops it.
ExitCode resize_cluster(StoreConsole& console, const StoreOfCluster& store) {
    const std::string& cluster = store.cluster.name;
    std::vector<std::string> keys{roster_key(cluster)};
    for (std::uint16_t partition = 0; partition < kStorePartitions; ++partition) {
        keys.push_back(partition_key(cluster, partition));
    }
    for (const std::string& key : keys) {
        const Result<RedisReplyOwner> reply = console.ask(redis_command(std::array<std::string, 5>{
            "FCALL", "sl1_resize", "1", key, std::to_string(store.cluster.size)}));
        if (!reply) {
            return store_refusal(reply.error());
        }
        if (integer_of(**reply) < 0) {
            return refuse(fmt::format("slot {} is held: `sluicectl store forget` its node first",
                                      -1 - integer_of(**reply)),
                          ExitCode::Refused);
        }
    }
    print(fmt::format("the cluster {} has the size {}\n", cluster, store.cluster.size));
    return ExitCode::Done;
}

}  // namespace

ExitCode run_store(const Options& options) {
    if ((options.word == "forget") == options.store.node.empty()) {
        return refuse("`store forget` is followed by a node, and no other action is",
                      ExitCode::Usage);
    }
    const Result<StoreOfCluster> store = store_of(options);
    if (!store) {
        return store.error().what.empty() ? ExitCode::Refused : store_refusal(store.error());
    }
    Result<StoreConsole> console = StoreConsole::open(store->access);
    if (!console) {
        return store_refusal(console.error());
    }
    if (options.word == "init") {
        return init_store(*console);
    }
    if (options.word == "check") {
        return check_store(*console, *store);
    }
    if (options.word == "forget") {
        return forget_node(*console, *store, options.store.node);
    }
    return options.word == "resize" ? resize_cluster(*console, *store)
                                    : show_store(*console, *store, options.json);
}

}  // namespace sluice
