#pragma once
#include "dataplane/port/netdev.hpp"
#include "lib/base/result.hpp"

#include <string>
#include <vector>

namespace sluice {

// An interface that a dataplane has changed.
struct KeptPort {
    Netdev netdev;
    NetdevChange change;
    bool held_down = false;  // it was up, and was taken down since the other side of its pair is

    bool operator==(const KeptPort&) const = default;
};

// Changes of a dataplane at the interfaces of its ports, kept in the state directory for the next
// one: a process that is killed brings back nothing itself.
class KeptPorts {
public:
    explicit KeptPorts(const std::string& directory);
    // A record that a start elsewhere has put aside.
    [[nodiscard]] static KeptPorts aside(std::string path);

    // Changes that were kept in this boot. An Error: the file cannot be read, or is of another
    // network namespace, whose interfaces are not seen from here.
    [[nodiscard]] Result<std::vector<KeptPort>> load() const;
    // Nothing: no file. An Error: the next start finds what was kept before.
    [[nodiscard]] Result<Done> save(const std::vector<KeptPort>& ports) const;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    KeptPorts() = default;

    std::string path_;
};

// Up, where it was held down. False: the kernel refuses it.
bool bring_up(const KeptPort& left);
// An interface that is no port any more is as it was before, and up. False: it stays as it is,
// since it is a port of another dataplane or the kernel refuses the change; the log says which.
[[nodiscard]] bool restore_left(const KeptPort& left);
// restore_left() of all that is kept. An Error names what stays as it is, and stays kept; it is
// load()'s where that gives one.
[[nodiscard]] Result<Done> restore_all(const KeptPorts& kept);
// The same of all that starts elsewhere have put aside too, for `--forget`. An Error names each
// that stays, and which file may be removed where its network namespace is gone.
[[nodiscard]] Result<Done> restore_all_in(const std::string& directory);

}  // namespace sluice
