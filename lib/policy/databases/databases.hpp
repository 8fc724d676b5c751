#pragma once
#include "lib/match/geo_parts.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/databases/mmdb_networks.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// `country_db` and `asn_db` of the top-level `data`: their files, and the fields that rules take
// from them.
class Databases {
public:
    // Reports files that are missing (a warning, or an error where the context is strict) and files
    // that are broken.
    void read(const MapReader& data, const ListReader* files, const ReadContext& context);

    // A rule uses a field from a database; reports it where the file names no such database.
    void use(Field field, Position at, Problems& problems);

    void warn_of_unused(const ReadContext& context) const;
    // The tables for these fields. nullptr: none of them is from a database, or there are too many
    // networks, which is reported.
    [[nodiscard]] std::shared_ptr<const GeoParts> origins(FieldSet asked, Problems& problems) const;
    [[nodiscard]] std::vector<DatabaseSummary> summaries() const;

private:
    struct Database {
        Position at;       // of its key
        Position file_at;  // of its path
        std::string file;  // as the rule file has it
        bool used = false;
        std::optional<DatabaseNetworks> networks;  // nullopt: it could not be read
    };

    void read_file(Database& database, DatabaseKind kind, const ListReader* files,
                   const ReadContext& context);
    [[nodiscard]] const DatabaseNetworks* networks_of(DatabaseKind kind, bool asked) const;

    std::array<std::optional<Database>, 2> databases_;  // by DatabaseKind
};

}  // namespace sluice
