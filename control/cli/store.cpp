#include "control/cli/box_config.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/json.hpp"
#include "control/store/function_text.hpp"
#include "control/store/store_console.hpp"
#include "control/store/store_fault.hpp"
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
    if (!options.store.user.empty() && options.store.password_file.empty()) {
        return Error{Errc::Refused,
                     "--user comes with --password-file: its first line is the "
                     "user's password"};
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

// The library of functions, or the script where the store has no functions.
Result<std::string> load(StoreConsole& console) {
    const Result<RedisReplyOwner> loaded = console.say(redis_command(
        std::array<std::string, 4>{"FUNCTION", "LOAD", "REPLACE", std::string{kStoreFunction}}));
    if (!loaded) {
        return loaded.error();
    }
    if (error_of(**loaded).empty()) {
        return std::string{"the function sl1"};
    }
    const Result<std::string> script =
        console.ask_text(std::array<std::string, 3>{"SCRIPT", "LOAD", std::string{kStoreScript}});
    if (script && lacks_right(error_of(**loaded))) {
        return std::string{"the script sl1, for want of functions,"};
    }
    return Error{Errc::Refused, console.name() + ": " + store_fault_of(error_of(**loaded)).why};
}

ExitCode init_store(StoreConsoles& consoles) {
    const Result<std::vector<StoreConsole*>> all = consoles.all();
    if (!all) {
        return store_refusal(all.error());
    }
    for (StoreConsole* console : *all) {
        const Result<std::string> loaded = load(*console);
        if (!loaded) {
            return store_refusal(loaded.error());
        }
        print(fmt::format("{} is at {}, revision {}\n", *loaded, console->name(),
                          kStoreFunctionRevision));
    }
    return ExitCode::Done;
}

// A box's whole way, with its own rights: an amount of nothing is told under a key of its own.
std::optional<Error> try_amount(StoreConsole& console, const StoreOfCluster& store,
                                std::uint16_t partition) {
    const StoreCaller caller{.size = 1, .incarnation = 1, .birth = 1};
    StoreBatch batch{.partition = partition, .seq = 1, .entries = {}};
    batch.entries.push_back({.digest = 1, .period_ns = kUsPerSecond, .parts = 1});
    for (int i = 0; i < 2; ++i) {
        const Result<RedisReplyOwner> reply =
            console.ask(sync_command(store.cluster.name, caller, batch, console.by()));
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

// A difference of the roster from sluice.yaml. Secrets that cannot be read here are not compared.
std::optional<Error> roster_fault(const StoreRoster& roster, const StoreOfCluster& store) {
    if (roster.size != 0 && roster.size != store.cluster.size) {
        return Error{Errc::Refused,
                     fmt::format("the cluster has the size {} at the store, and {} here",
                                 roster.size, store.cluster.size)};
    }
    const Result<std::string> digest = read_secret_digest(store.cluster.secret_file);
    if (!digest) {
        say_warning(digest.error().what + ": the secret is not compared");
    } else if (!roster.secret.empty() && roster.secret != *digest) {
        return Error{Errc::Refused, fmt::format("the boxes of the cluster have another secret than "
                                                "{}: keys have other names here, and limits would "
                                                "not be shared",
                                                store.cluster.secret_file)};
    }
    return std::nullopt;
}

// A primary by itself: what may be evicted, its role, its replicas. -> its replicas
Result<std::string> check_primary(StoreConsole& console, const StoreOfCluster& store) {
    const Result<std::string> memory = info_of(console, "memory");
    const Result<std::string> role = memory ? info_of(console, "replication") : memory;
    if (!role) {
        return role.error();
    }
    for (const std::optional<StoreFault>& fault :
         {memory_fault(*memory), role_fault(*role, store.cluster.durability)}) {
        if (fault) {
            return Error{Errc::Refused, console.name() + ": " + fault->why};
        }
    }
    return visible_line(info_value(*role, "connected_slaves"));
}

// Boxes would take one each, and share nothing.
std::optional<Error> two_primaries(const StoreAccess& access) {
    if (access.cluster_mode || !access.sentinel.empty() || access.addresses.size() < 2) {
        return std::nullopt;
    }
    const std::vector<ServerAddress> primaries = primaries_among(access);
    if (primaries.size() < 2) {
        return std::nullopt;
    }
    return Error{Errc::Refused,
                 fmt::format("{} and {} are both primaries, and boxes at different ones share "
                             "nothing: `addresses` are one primary and its replicas",
                             words_of(primaries[0]), words_of(primaries[1]))};
}

// With a box's own rights, at a partition of each primary.
std::optional<Error> try_amounts(StoreConsoles& consoles, const StoreOfCluster& store) {
    std::vector<const StoreConsole*> tried;
    for (std::uint16_t i = 0; i < consoles.partitions(); ++i) {
        const auto partition = static_cast<std::uint16_t>(kPartitionOfChecks + i);
        const Result<StoreConsole*> console =
            consoles.of_key(partition_key(store.cluster.name, partition));
        if (!console) {
            return console.error();
        }
        if (std::ranges::find(tried, *console) != tried.end()) {
            continue;
        }
        tried.push_back(*console);
        const Result<RedisReplyOwner> status =
            (*console)->call("sl1_status", partition_key(store.cluster.name, partition), {});
        if (!status) {
            return status.error();
        }
        if (std::optional<Error> fault = try_amount(**console, store, partition)) {
            return fault;
        }
    }
    return std::nullopt;
}

// An Error names the first partition that cannot be read.
Result<std::uint64_t> count_keys(StoreConsoles& consoles, const StoreOfCluster& store) {
    std::uint64_t keys = 0;
    for (std::uint16_t partition = 0; partition < consoles.partitions(); ++partition) {
        const Result<std::uint64_t> count = keys_of(consoles, store.cluster.name, partition);
        if (!count) {
            return Error{count.error().code,
                         fmt::format("partition {}: {}", partition, count.error().what)};
        }
        keys += *count;
    }
    return keys;
}

ExitCode check_store(StoreConsoles& consoles, const StoreOfCluster& store) {
    if (const std::optional<Error> fault = two_primaries(store.access)) {
        return store_refusal(*fault);
    }
    const Result<std::vector<StoreConsole*>> all = consoles.all();
    if (!all) {
        return store_refusal(all.error());
    }
    std::string text;
    for (StoreConsole* console : *all) {
        const Result<std::string> replicas = check_primary(*console, store);
        if (!replicas) {
            return store_refusal(replicas.error());
        }
        text += fmt::format("{} is there, {} replicas\n", console->name(), *replicas);
    }
    const Result<StoreRoster> roster = read_roster(consoles, store.cluster.name);
    if (!roster) {
        return store_refusal(roster.error());
    }
    if (const std::optional<Error> fault = try_amounts(consoles, store)) {
        return store_refusal(*fault);
    }
    if (const std::optional<Error> fault = roster_fault(*roster, store)) {
        return store_refusal(*fault);
    }
    const Result<std::uint64_t> keys = count_keys(consoles, store);
    if (!keys) {
        return store_refusal(keys.error());
    }
    print(fmt::format("{}function sl1 revision {}, no key is evicted, {} of {} slots held\n", text,
                      roster->revision, roster->slots.size(), store.cluster.size));
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

ExitCode show_store(StoreConsoles& consoles, const StoreOfCluster& store, bool json) {
    const Result<StoreRoster> roster = read_roster(consoles, store.cluster.name);
    if (!roster) {
        return store_refusal(roster.error());
    }
    const Result<std::uint64_t> keys = count_keys(consoles, store);
    if (!keys) {
        return store_refusal(keys.error());
    }
    const Result<std::vector<StoreConsole*>> all = consoles.all();
    if (!all) {
        return store_refusal(all.error());
    }
    std::string used;
    for (StoreConsole* console : *all) {
        const Result<std::string> memory = info_of(*console, "memory");
        if (!memory) {
            return store_refusal(memory.error());
        }
        used +=
            (used.empty() ? "" : " + ") + visible_line(info_value(*memory, "used_memory_human"));
    }
    print(json ? dump_line(store_json(*roster, *keys, used)) : store_text(*roster, *keys, used));
    return ExitCode::Done;
}

ExitCode forget_node(StoreConsoles& consoles, const StoreOfCluster& store,
                     const std::string& node) {
    const Result<RedisReplyOwner> reply =
        consoles.call("sl1_release", roster_key(store.cluster.name), std::array{node});
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

// The secret of this box's file becomes the cluster's.
ExitCode rekey_cluster(StoreConsoles& consoles, const StoreOfCluster& store) {
    const Result<std::string> digest = read_secret_digest(store.cluster.secret_file);
    if (!digest) {
        return refuse(digest.error().what, ExitCode::Refused);
    }
    const Result<RedisReplyOwner> reply =
        consoles.call("sl1_rekey", roster_key(store.cluster.name), std::array{*digest});
    if (!reply) {
        return store_refusal(reply.error());
    }
    print(
        fmt::format("the secret in {} is the cluster's: boxes with another one are fenced until "
                    "they start with it\n",
                    store.cluster.secret_file));
    return ExitCode::Done;
}

// The roster first: a slot that is held beyond the new size stops it.
ExitCode resize_cluster(StoreConsoles& consoles, const StoreOfCluster& store) {
    const std::string& cluster = store.cluster.name;
    std::vector<std::string> keys{roster_key(cluster)};
    for (std::uint16_t partition = 0; partition < consoles.partitions(); ++partition) {
        keys.push_back(partition_key(cluster, partition));
    }
    for (const std::string& key : keys) {
        const Result<RedisReplyOwner> reply =
            consoles.call("sl1_resize", key, std::array{std::to_string(store.cluster.size)});
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
    Result<StoreConsoles> consoles = StoreConsoles::open(store->access);
    if (!consoles) {
        return store_refusal(consoles.error());
    }
    if (options.word == "init") {
        return init_store(*consoles);
    }
    if (options.word == "check") {
        return check_store(*consoles, *store);
    }
    if (options.word == "forget") {
        return forget_node(*consoles, *store, options.store.node);
    }
    if (options.word == "rekey") {
        return rekey_cluster(*consoles, *store);
    }
    return options.word == "resize" ? resize_cluster(*consoles, *store)
                                    : show_store(*consoles, *store, options.json);
}

}  // namespace sluice
