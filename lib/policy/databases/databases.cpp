#include "lib/policy/databases/databases.hpp"

#include "lib/policy/databases/mmdb_process.hpp"
#include "lib/policy/databases/origins_of.hpp"
#include "lib/policy/lists/data_file.hpp"

#include <string_view>

namespace sluice {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>({"country_db", "asn_db"});
constexpr auto kKinds = std::to_array({DatabaseKind::Country, DatabaseKind::Asn});

std::size_t index_of(DatabaseKind kind) noexcept {
    return static_cast<std::size_t>(kind);
}

DatabaseKind kind_for(Field field) noexcept {
    return row_of(field).kind == FieldKind::Country ? DatabaseKind::Country : DatabaseKind::Asn;
}

bool asks(FieldSet fields, DatabaseKind kind) noexcept {
    return kind == DatabaseKind::Country
               ? fields.has(Field::IpSrcCountry) || fields.has(Field::IpDstCountry)
               : fields.has(Field::IpSrcAsn) || fields.has(Field::IpDstAsn);
}

}  // namespace

void Databases::read(const MapReader& data, const ListReader* files, const ReadContext& context) {
    for (const DatabaseKind kind : kKinds) {
        const std::string_view key = kKeys[index_of(kind)];
        const YamlNode* node = data.find(key);
        if (node == nullptr) {
            continue;
        }
        Database& database = databases_[index_of(kind)].emplace(Database{});
        database.at = data.place_of_key(key);
        database.file_at = node->at;
        database.file = data_path(data, key, context).value_or("");
        if (!database.file.empty()) {
            read_file(database, kind, files, context);
        }
    }
}

void Databases::read_file(Database& database, DatabaseKind kind, const ListReader* files,
                          const ReadContext& context) {
    const std::optional<ListFile> file =
        read_data_file(database.file, database.file_at, files, context);
    if (!file) {
        return;
    }
    Result<DatabaseNetworks> networks = read_mmdb(*file->text, kind);
    if (!networks) {
        context.problems.error(database.file_at, file->name + " " + networks.error().what);
        return;
    }
    database.networks = *std::move(networks);
}

void Databases::use(Field field, Position at, Problems& problems) {
    std::optional<Database>& database = databases_[index_of(kind_for(field))];
    if (database) {
        database->used = true;
        return;
    }
    problems.error(at, std::string{row_of(field).name} + " needs a database: the file has no `" +
                           std::string{kKeys[index_of(kind_for(field))]} + "` in `data`");
}

void Databases::warn_of_unused(const ReadContext& context) const {
    for (const DatabaseKind kind : kKinds) {
        const std::optional<Database>& database = databases_[index_of(kind)];
        if (database && !database->used) {
            context.problems.warning(database->at,
                                     "no rule asks `" + std::string{kKeys[index_of(kind)]} + "`");
        }
    }
}

const DatabaseNetworks* Databases::networks_of(DatabaseKind kind, bool asked) const {
    const std::optional<Database>& database = databases_[index_of(kind)];
    return asked && database && database->networks ? &*database->networks : nullptr;
}

std::shared_ptr<const GeoParts> Databases::origins(FieldSet asked, Problems& problems) const {
    if (asked == FieldSet{}) {
        return nullptr;
    }
    Result<GeoParts> parts =
        origins_of(networks_of(DatabaseKind::Country, asks(asked, DatabaseKind::Country)),
                   networks_of(DatabaseKind::Asn, asks(asked, DatabaseKind::Asn)));
    if (!parts) {
        problems.error({}, parts.error().what);
        return nullptr;
    }
    parts->asked = asked;
    return std::make_shared<const GeoParts>(*std::move(parts));
}

std::vector<DatabaseSummary> Databases::summaries() const {
    std::vector<DatabaseSummary> all;
    for (const DatabaseKind kind : kKinds) {
        if (const std::optional<Database>& database = databases_[index_of(kind)]) {
            DatabaseSummary summary{.key = std::string{kKeys[index_of(kind)]},
                                    .file = database->file,
                                    .type = {},
                                    .known = database->networks.has_value()};
            if (summary.known) {
                summary.type = database->networks->type;
                summary.built_at = database->networks->built_at;
                summary.ranges =
                    database->networks->steps.size() + database->networks->v6_steps.size();
            }
            all.push_back(std::move(summary));
        }
    }
    return all;
}

}  // namespace sluice
