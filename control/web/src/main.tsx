import { render } from "preact";

import "./style/app.css";
import { Frame } from "./frame/frame";
import { listenToKeys } from "./frame/keys";
import { Lock } from "./frame/lock";
import { screenOf } from "./frame/screen";
import { begin, route } from "./page";
import { Guard } from "./parts/guard";
import { SCREENS } from "./screens/screens";

function Page() {
  const screen = screenOf(SCREENS, route.value);
  return (
    <>
      <Lock />
      <Frame screens={SCREENS} screen={screen}>
        <Guard of={screen.name}>
          <screen.View />
        </Guard>
      </Frame>
    </>
  );
}

const place = document.getElementById("app");
if (place !== null) {
  place.replaceChildren();
  begin((shown) => screenOf(SCREENS, shown).live(shown));
  listenToKeys(SCREENS);
  render(<Page />, place);
}
