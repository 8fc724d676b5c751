import { render } from "preact";

import "./style/app.css";
import { Frame } from "./frame/frame";
import { listenToKeys } from "./frame/keys";
import { Lock } from "./frame/lock";
import { begin, route } from "./page";
import { Overview } from "./screens/overview/overview";
import { Rules } from "./screens/rules/rules";

function Page() {
  return (
    <>
      <Lock />
      <Frame>{route.value.screen === "rules" ? <Rules /> : <Overview />}</Frame>
    </>
  );
}

const place = document.getElementById("app");
if (place !== null) {
  place.replaceChildren();
  begin();
  listenToKeys();
  render(<Page />, place);
}
