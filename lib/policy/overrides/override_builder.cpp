#include "lib/policy/overrides/override_builder.hpp"

#include "lib/policy/keys/key_text.hpp"
#include "lib/policy/overrides/until_text.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/rules/network_bans.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

bool same(ByteView a, ByteView b) noexcept {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// The identity of a piece: everything but the key.
std::string text_of(const OverrideText& text, std::uint8_t key) {
    std::string all{static_cast<char>(key)};
    all += text.banned ? "banned " : "";
    all += text.until_at == kForever ? "" : std::to_string(text.until_at.count());
    for (const std::string_view part :
         {text.limit, text.numbers.rate, text.numbers.burst, text.numbers.count, text.until}) {
        all += part;
        all += '\n';
    }
    return all;
}

// True if a key of one address holds the bytes of a shorter network.
bool is_network_of(ByteView bytes, const GroupingKey& key) noexcept {
    if (key.size() != 1 || !key.front().is_address()) {
        return false;
    }
    const KeyNetwork network = network_of_key(bytes);
    return network.version != 0 &&
           network.length != key.front().length(static_cast<IpVersion>(network.version));
}

OverrideFault::Word word_of(NumberWord word) noexcept {
    switch (word) {
        case NumberWord::Rate:
            return OverrideFault::Word::Rate;
        case NumberWord::Burst:
            return OverrideFault::Word::Burst;
        default:
            return OverrideFault::Word::Count;
    }
}

std::string no_such_limit(std::string_view name, const Rule& rule) {
    std::vector<std::string_view> names{kExempt};
    for (const MeteredLimit& limit : rule.limits) {
        names.push_back(limit.name);
    }
    return "the rule has no limit `" + std::string{name} + "`" + did_you_mean(name, names);
}

}  // namespace

std::optional<std::size_t> OverrideBuilder::tier_of(std::string_view limit) const {
    if (rule_.keys.size() == 1) {
        return 0;
    }
    std::optional<std::size_t> tier;
    for (const MeteredLimit& one : rule_.limits) {
        if (one.name == limit) {
            if (tier && *tier != one.key) {
                return std::nullopt;
            }
            tier = one.key;
        }
    }
    return tier;
}

std::optional<std::uint8_t> OverrideBuilder::limit_in(std::string_view name,
                                                      std::uint8_t key) const {
    for (std::size_t i = 0; i < rule_.limits.size(); ++i) {
        if (rule_.limits[i].key == key && rule_.limits[i].name == name) {
            return static_cast<std::uint8_t>(i);
        }
    }
    return std::nullopt;
}

std::optional<OverrideFault> OverrideBuilder::read_piece(const OverrideText& text,
                                                         std::uint8_t limit, Piece& piece) const {
    piece.numbers.until = text.until_at;
    if (!text.until.empty()) {
        const Result<Nanoseconds> until = parse_until(text.until);
        if (!until) {
            return OverrideFault{OverrideFault::Word::Until, until.error().what};
        }
        piece.numbers.until = *until;
    }
    if (!piece.has_numbers()) {
        const NumbersText& numbers = text.numbers;
        if (!numbers.rate.empty() || !numbers.burst.empty() || !numbers.count.empty()) {
            return OverrideFault{OverrideFault::Word::Limit,
                                 piece.banned ? "a line that bans a key has no numbers"
                                              : "a key that is exempt has no numbers"};
        }
        return std::nullopt;
    }
    NumbersFault fault;
    const std::optional<AnyLimit> numbers = with_numbers(rule_.limits[limit], text.numbers, fault);
    if (!numbers) {
        return OverrideFault{word_of(fault.word), std::move(fault.what)};
    }
    piece.numbers.limit = limit;
    piece.numbers.numbers = *numbers;
    return std::nullopt;
}

std::optional<OverrideFault> OverrideBuilder::add_piece(const OverrideText& text, std::uint8_t key,
                                                        std::uint32_t& piece) {
    const std::optional<std::uint8_t> limit = limit_in(text.limit, key);
    if (text.names_limit() && !limit) {
        return OverrideFault{
            OverrideFault::Word::Key,
            "the limit `" + std::string{text.limit} + "` does not count by a key of this shape"};
    }
    const auto [known, is_new] = known_pieces_.try_emplace(
        text_of(text, key), static_cast<std::uint32_t>(said_.pieces.size()));
    piece = known->second;
    if (is_new) {
        Piece made{.exempt = text.is_exempt(),
                   .banned = text.banned,
                   .numbers = {0, kForever, rule_.limits.front().limit}};
        if (std::optional<OverrideFault> fault = read_piece(text, limit.value_or(0), made)) {
            known_pieces_.erase(known);
            return fault;
        }
        said_.pieces.push_back(made);
        said_.piece_sums.push_back(add_to_row_sum(kEmptyRowSum, sluice::bytes_of(known->first)));
    }
    return std::nullopt;
}

std::optional<OverrideFault> OverrideBuilder::add(const OverrideText& text, OverridePlace place) {
    const auto named = [&](const MeteredLimit& limit) { return limit.name == text.limit; };
    if (text.names_limit() && std::none_of(rule_.limits.begin(), rule_.limits.end(), named)) {
        return OverrideFault{OverrideFault::Word::Limit, no_such_limit(text.limit, rule_)};
    }
    std::optional<std::size_t> tier = text.tier;
    if (const std::optional<std::size_t> of_limit = tier_of(text.limit); !tier && of_limit) {
        tier = *of_limit + 1;
    }
    const Result<Named> name = read_name(text, tier, place.source);
    if (!name) {
        return OverrideFault{OverrideFault::Word::Key, name.error().what};
    }
    const std::uint8_t key = name->key ? name->key->index : name->range.index;
    std::uint32_t piece = 0;
    if (std::optional<OverrideFault> fault = add_piece(text, key, piece)) {
        return fault;
    }
    if (!name->key) {
        said_.ranges.push_back({name->range, {0, 0, piece, place, key, reason_of(text)}});
        return std::nullopt;
    }
    const ByteView bytes = name->key->bytes.view();
    const auto begin = static_cast<std::uint32_t>(said_.bytes.size());
    said_.bytes.insert(said_.bytes.end(), bytes.begin(), bytes.end());
    said_.rows.push_back({begin, static_cast<std::uint32_t>(said_.bytes.size()), piece, place, key,
                          reason_of(text)});
    return std::nullopt;
}

// The packet path needs the same of a row whatever its reason.
std::uint32_t OverrideBuilder::reason_of(const OverrideText& text) {
    if (text.reason.empty()) {
        return 0;
    }
    const auto [known, is_new] = known_reasons_.try_emplace(
        std::string{text.reason}, static_cast<std::uint32_t>(said_.reasons.size() + 1));
    if (is_new) {
        said_.reasons.push_back(std::make_shared<const std::string>(text.reason));
    }
    return known->second;
}

// Numbers that an operator has set take the place of the files' for that limit, and of `exempt`;
// his `exempt` that of a file's ban.
void OverrideBuilder::let_run_time_win(Group& group) const {
    std::vector<bool> set(rule_.limits.size());
    bool numbers = false;
    bool exempt = false;
    for (const Row* row : group) {
        const Piece& piece = said_.pieces[row->piece];
        if (row->place.source != OverrideSource::RunTime) {
            continue;
        }
        exempt = exempt || piece.exempt;
        if (piece.has_numbers()) {
            set[piece.numbers.limit] = true;
            numbers = true;
        }
    }
    if (!numbers && !exempt) {
        return;
    }
    std::erase_if(group, [&](const Row* row) {
        const Piece& piece = said_.pieces[row->piece];
        if (row->place.source == OverrideSource::RunTime) {
            return false;
        }
        return piece.banned   ? exempt
               : piece.exempt ? numbers
                              : static_cast<bool>(set[piece.numbers.limit]);
    });
}

OverrideTwice OverrideBuilder::twice_of(const Row& first, const Row& second) const {
    const Piece& piece = said_.pieces[second.piece];
    const bool exempt = said_.pieces[first.piece].exempt || piece.exempt;
    return {first.place, second.place,
            piece.banned ? "the key is banned twice"
            : exempt
                ? "the key is exempt, and has numbers or is so twice"
                : "the key has the limit `" + rule_.limits[piece.numbers.limit].name + "` twice"};
}

// A key has one thing only for a limit, and beside `exempt` nothing but a ban has a meaning. An
// operator's row stands beside, or has replaced the other.
void OverrideBuilder::check_group(const Group& group, std::vector<OverrideTwice>& twice) const {
    std::vector<const Row*> of_limit(rule_.limits.size());  // the first of each
    const Row* exempt = nullptr;
    const Row* banned = nullptr;
    const Row* any = nullptr;
    for (std::size_t i = 0; i < group.size() && twice.size() < kMostTwiceTold; ++i) {
        const Row& row = *group[i];
        const Piece& piece = said_.pieces[row.piece];
        if (row.place.source == OverrideSource::RunTime) {
            continue;
        }
        if (piece.banned) {
            if (banned != nullptr) {
                twice.push_back(twice_of(*banned, row));
            }
            banned = &row;
            continue;
        }
        const Row*& same = piece.exempt ? exempt : of_limit[piece.numbers.limit];
        const Row* first = piece.exempt ? any : exempt;
        if (!piece.exempt && same != nullptr && (first == nullptr || same < first)) {
            first = same;
        }
        if (first != nullptr) {
            twice.push_back(twice_of(*first, row));
        }
        same = same == nullptr ? &row : same;
        any = any == nullptr ? &row : any;
    }
}

void OverrideBuilder::note_bans(const Group& group) {
    for (const Row* row : group) {
        const Piece& piece = said_.pieces[row->piece];
        if (piece.banned && row->place.source != OverrideSource::RunTime) {
            banned_ = banned_ == nullptr ? std::make_shared<BannedKeys>() : banned_;
            const ByteView bytes = said_.bytes_of(*row);
            banned_->push_back({row->key,
                                row->place.line,
                                piece.numbers.until,
                                {bytes.begin(), bytes.end()},
                                row->reason == 0 ? nullptr : said_.reasons[row->reason - 1]});
        }
    }
}

std::uint32_t OverrideBuilder::plan_of(const Group& group, Overrides& overrides) {
    if (group.size() == 1) {  // most are
        plan_of_piece_.resize(said_.pieces.size());
        std::uint32_t& plan = plan_of_piece_[group.front()->piece];
        plan = plan != 0 ? plan : add_plan(group, overrides) + 1;
        return plan - 1;
    }
    std::string pieces;
    for (const Row* row : group) {
        pieces.append(reinterpret_cast<const char*>(&row->piece), sizeof(row->piece));
    }
    const auto [known, is_new] = known_plans_.try_emplace(std::move(pieces), 0);
    if (is_new) {
        known->second = add_plan(group, overrides);
    }
    return known->second;
}

std::uint32_t OverrideBuilder::add_plan(const Group& group, Overrides& overrides) const {
    OverridePlan plan{.first = static_cast<std::uint32_t>(overrides.numbers.size())};
    for (const Row* row : group) {
        const Piece& piece = said_.pieces[row->piece];
        if (piece.banned) {
            plan.banned = true;
            plan.banned_until = piece.numbers.until;
        } else if (piece.exempt) {
            plan.exempt = true;
            plan.exempt_until = piece.numbers.until;
        } else {
            overrides.numbers.push_back(piece.numbers);
            ++plan.count;
        }
    }
    overrides.plans.push_back(plan);
    return static_cast<std::uint32_t>(overrides.plans.size() - 1);
}

const OverrideRows& OverrideBuilder::sorted_rows() {
    said_.sort();
    return said_;
}

OpenRows OverrideBuilder::leave() {
    said_.sort();
    return {std::exchange(said_, {}), std::exchange(known_pieces_, {})};
}

void OverrideBuilder::append(const OpenRows& more) {
    said_.sort();
    std::vector<std::uint32_t> piece_here(more.rows.pieces.size());
    for (const auto& [text, piece] : more.pieces) {
        const auto [known, is_new] =
            known_pieces_.try_emplace(text, static_cast<std::uint32_t>(said_.pieces.size()));
        if (is_new) {
            said_.pieces.push_back(more.rows.pieces[piece]);
            said_.piece_sums.push_back(more.rows.piece_sums[piece]);
        }
        piece_here[piece] = known->second;
    }
    const auto begin = static_cast<std::uint32_t>(said_.bytes.size());
    said_.bytes.insert(said_.bytes.end(), more.rows.bytes.begin(), more.rows.bytes.end());
    said_.rows.reserve(said_.rows.size() + more.rows.rows.size());
    for (const Row& row : more.rows.rows) {
        said_.rows.push_back(
            {begin + row.begin, begin + row.end, piece_here[row.piece], row.place, row.key});
    }
    said_.sort();  // a merge: both parts are in order
}

std::shared_ptr<const Overrides> OverrideBuilder::finish(std::vector<OverrideTwice>& twice,
                                                         const std::stop_token& stop) {
    const std::vector<Row>& rows = sorted_rows().rows;
    auto overrides = std::make_shared<Overrides>();
    overrides->keys.resize(rule_.keys.size());
    sum_ = kEmptyRowSum;
    Group group;
    StopCheck check{stop};
    for (std::size_t at = 0; at < rows.size();) {
        if (check.is_requested()) {
            return nullptr;
        }
        const Row& first = rows[at];
        const ByteView bytes = said_.bytes_of(first);
        group.clear();
        for (;
             at < rows.size() && rows[at].key == first.key && same(said_.bytes_of(rows[at]), bytes);
             ++at) {
            group.push_back(&rows[at]);
        }
        if (group.size() > 1) {
            let_run_time_win(group);
            check_group(group, twice);
        }
        note_bans(group);
        sum_ = add_to_row_sum(sum_, bytes);
        for (const Row* row : group) {
            sum_ = add_to_row_sum(sum_, std::as_bytes(std::span{&said_.piece_sums[row->piece], 1}));
        }
        const bool is_network = is_network_of(bytes, rule_.keys[first.key]);
        if (is_network) {
            overrides->networks.resize(rule_.keys.size());
        }
        KeyOverrides& keys = (is_network ? overrides->networks : overrides->keys)[first.key];
        keys.bytes.insert(keys.bytes.end(), bytes.begin(), bytes.end());
        keys.rows.push_back(
            {static_cast<std::uint32_t>(keys.bytes.size()), plan_of(group, *overrides)});
    }
    finish_ranges(*overrides, twice);
    if (said_.size() == 0 || !twice.empty()) {
        return nullptr;
    }
    named_ = std::make_shared<NamedRows>(std::move(said_));
    named_ = named_->has_any() ? std::move(named_) : nullptr;
    return overrides;
}

}  // namespace sluice
