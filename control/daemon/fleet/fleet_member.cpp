#include "control/daemon/fleet/fleet_member.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace sluice {

void FleetMember::tick(Clock::time_point now) {
    if (lease_ != 0 && now - alive_at_ >= kKeepAlive) {
        const Result<bool> alive = store_.etcd().keep_alive(lease_);
        if (!alive) {
            note_failure(alive.error());
            return;
        }
        alive_at_ = now;
        if (!*alive) {
            spdlog::warn("the cluster's lease of this box has ended: it asks for its slot again");
            lease_ = 0;
        } else if (const Result<Done> done = publish(); !done) {  // also: has it been drained?
            note_failure(done.error());
        }
    }
    if (lease_ == 0) {
        if (now < join_at_) {
            return;
        }
        join_at_ = now + kRejoin;
        if (const Result<Done> done = join(); !done) {
            note_failure(done.error());
        }
        alive_at_ = now;
        return;
    }
    if (board_.edition() != published_ || board_.status().membership != Membership::Member) {
        if (const Result<Done> done = publish(); !done) {
            note_failure(done.error());
        }
    }
}

void FleetMember::note_failure(const Error& error) {
    if (board_.status().why != error.what) {
        spdlog::warn("{}; the rules and the slot of this box stay as they are", error.what);
    }
    board_.change([&](FleetStatus& status) {
        ++status.etcd_failures;
        // A refused or drained box does not become a member by an outage.
        if (status.membership != Membership::Refused && status.membership != Membership::Drained) {
            status.membership = Membership::Away;
            status.why = error.what;
        }
    });
}

void FleetMember::refuse(Membership membership, const std::string& why) {
    const FleetStatus status = board_.status();
    if (status.membership == membership && status.why == why) {
        return;
    }
    spdlog::log(membership == Membership::Refused ? spdlog::level::err : spdlog::level::info,
                "no member of the cluster {}: {}", board_.options().name, why);
    board_.change([&](FleetStatus& changed) {
        changed.membership = membership;
        changed.why = why;
    });
}

Result<FleetMember::Scan> FleetMember::scan() {
    const FleetKeys& keys = store_.keys();
    const std::string& node = board_.options().node;
    const Result<EtcdOutcome> outcome = store_.etcd().commit(
        {.then = {EtcdGet{.key = keys.cluster()},
                  EtcdGet{.key = keys.nodes(), .end = end_of_prefix(keys.nodes())},
                  EtcdGet{.key = keys.name(node)}, EtcdGet{.key = keys.drain(node)}}});
    if (!outcome) {
        return outcome.error();
    }
    if (outcome->read.size() != 4) {
        return Error{Errc::BadSyntax, "etcd's answer is none: not what was asked for"};
    }
    Scan scan{.nodes = outcome->read[1],
              .holder = std::nullopt,
              .cluster = std::nullopt,
              .is_drained = !outcome->read[3].empty()};
    if (!outcome->read[0].empty()) {
        Result<ClusterRecord> cluster = cluster_from(outcome->read[0].front().value);
        if (!cluster) {
            return cluster.error();
        }
        scan.cluster = *cluster;
    }
    if (!outcome->read[2].empty()) {
        scan.holder = outcome->read[2].front().value;
    }
    return scan;
}

// Empty: it may take a slot that is free.
std::string FleetMember::why_refused(const Scan& scan) const {
    const ClusterOptions& options = board_.options();
    if (scan.cluster->size != options.size) {
        return fmt::format("the cluster has {} boxes, and `cluster.size` says {}",
                           scan.cluster->size, options.size);
    }
    if (!scan.cluster->secret.empty() && !secret_.empty() && scan.cluster->secret != secret_) {
        return "the cluster's first box has another secret in its `cluster.secret_file`: limits "
               "would not be shared";
    }
    if (scan.holder && is_displaced_) {
        return fmt::format("another box runs as {} with a copy of this box's state directory",
                           options.node);
    }
    if (scan.holder && *scan.holder != incarnation_) {
        return fmt::format("another box is called {}; `cluster.node` is of one box alone",
                           options.node);
    }
    if (open_slots(scan).empty()) {
        return fmt::format("all of its {} slots are taken", options.size);
    }
    return "";
}

// The box's own slot comes first, then those that nobody has.
std::vector<std::size_t> FleetMember::open_slots(const Scan& scan) const {
    std::vector<std::size_t> slots;
    for (std::size_t slot = 0; slot < board_.options().size; ++slot) {
        const std::string key = store_.keys().node(slot);
        const auto taken = std::ranges::find(scan.nodes, key, &EtcdKey::key);
        const bool is_own = [&] {
            if (taken == scan.nodes.end()) {
                return true;
            }
            const Result<NodeRecord> node = node_from(taken->value);
            return node && node->node == board_.options().node && node->incarnation == incarnation_;
        }();
        if (is_own) {
            slots.push_back(slot);
        }
    }
    if (const auto own = slot_ ? std::ranges::find(slots, *slot_) : slots.end();
        own != slots.end()) {
        std::rotate(slots.begin(), own, own + 1);
    }
    return slots;
}

Result<Done> FleetMember::join() {
    const Result<Scan> scan = this->scan();
    if (!scan) {
        return scan.error();
    }
    if (scan->is_drained) {
        refuse(Membership::Drained, "it was drained; `sluicectl drain --undo` lets it back in");
        return Done{};
    }
    if (!scan->cluster) {
        const std::string key = store_.keys().cluster();
        const Result<EtcdOutcome> made = store_.etcd().commit(
            {.when = {is_absent(key)},
             .then = {EtcdPut{.key = key,
                              .value = text_of(ClusterRecord{board_.options().size, secret_})}}});
        return made ? Result<Done>{Done{}} : made.error();  // read at the next try
    }
    if (const std::string why = why_refused(*scan); !why.empty()) {
        refuse(Membership::Refused, why);
        return Done{};
    }
    const Result<bool> taken = take(open_slots(*scan).front(), *scan);
    return taken ? Result<Done>{Done{}} : taken.error();
}

// False: somebody was quicker.
Result<bool> FleetMember::take(std::size_t slot, const Scan& scan) {
    const Result<std::int64_t> lease = store_.etcd().grant(kLeaseSeconds);
    if (!lease) {
        return lease.error();
    }
    const FleetKeys& keys = store_.keys();
    const std::string name = keys.name(board_.options().node);
    const std::string key = keys.node(slot);
    const auto had = std::ranges::find(scan.nodes, key, &EtcdKey::key);
    const std::uint64_t edition = board_.edition();
    NodeRecord told = record();
    told.slot = slot;
    const Result<EtcdOutcome> outcome = store_.etcd().commit(
        {.when = {scan.holder ? has_value(name, incarnation_) : is_absent(name),
                  had == scan.nodes.end() ? is_absent(key) : is_unchanged(key, had->modified)},
         .then = {EtcdPut{.key = name, .value = incarnation_, .lease = *lease},
                  EtcdPut{.key = key, .value = text_of(told), .lease = *lease},
                  EtcdPut{.key = keys.seen(board_.options().node), .value = told.host}}});
    if (!outcome || !outcome->held) {
        (void)store_.etcd().revoke(*lease);
        return outcome ? Result<bool>{false} : outcome.error();
    }
    lease_ = *lease;
    slot_ = slot;
    is_displaced_ = false;
    spdlog::info("slot {} of the cluster {} is this box's", slot, board_.options().name);
    board_.change([&](FleetStatus& status) {
        status.membership = Membership::Member;
        status.why.clear();
        status.record.slot = slot;
        ++status.joined;
    });
    published_ = edition;
    return true;
}

NodeRecord FleetMember::record() const {
    NodeRecord record = board_.status().record;
    record.incarnation = incarnation_;
    record.node = board_.options().node;
    record.version = SLUICE_VERSION;
    return record;
}

// Only while name and slot are the box's own: one that lost them writes nothing in the place of
// another. Their keys are compared by lease, since a copy of the box has its incarnation too.
Result<Done> FleetMember::publish() {
    const FleetKeys& keys = store_.keys();
    const std::uint64_t edition = board_.edition();
    const std::string name = keys.name(board_.options().node);
    const std::string slot = keys.node(*slot_);
    EtcdTransaction told{.when = {has_lease(name, lease_), has_lease(slot, lease_),
                                  is_absent(keys.drain(board_.options().node))},
                         .otherwise = {EtcdGet{.key = name}}};
    if (edition != published_) {
        told.then = {EtcdPut{.key = slot, .value = text_of(record()), .lease = lease_}};
    }
    const Result<EtcdOutcome> outcome = store_.etcd().commit(told);
    if (!outcome) {
        lease_ = outcome.error().code == Errc::BadSyntax ? 0 : lease_;  // of a lease that is over
        return outcome.error();
    }
    if (!outcome->held) {
        const auto holder = outcome->read.empty() ? std::vector<EtcdKey>{} : outcome->read.front();
        is_displaced_ = !holder.empty() && holder.front().lease != lease_ &&
                        holder.front().value == incarnation_;
        leave();
        return Done{};
    }
    published_ = edition;
    board_.change([](FleetStatus& status) {
        status.membership = Membership::Member;
        status.why.clear();
    });
    return Done{};
}

void FleetMember::leave() {
    if (lease_ != 0) {
        (void)store_.etcd().revoke(lease_);
        lease_ = 0;
    }
}

}  // namespace sluice
