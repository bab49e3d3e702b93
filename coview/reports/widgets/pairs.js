// Pairs: anchors down, targets across; a click shows the curve of that pair alone.

KINDS.pairs = (holder, data) => {
  const names = Object.keys(data.rows);
  if (!names.length) return;
  const ends = names.map((name) => name.split("->"));
  const views = [...new Set(ends.flat())];
  const anchors = views.filter((view) => ends.some((one) => one[0] === view));
  const targets = views.filter((view) => ends.some((one) => one[1] === view));
  const highest = Math.max(...names.map((name) => data.rows[name].information ?? 0), 1e-9);
  const buttons = {};
  let chosen = null;

  function choose(name) {
    chosen = chosen === name ? null : name;
    for (const [one, button] of Object.entries(buttons)) button.setAttribute("aria-pressed", String(one === chosen));
    document.dispatchEvent(new CustomEvent("coview-pair", { detail: { run: data.run, pair: chosen } }));
  }

  function cell(name) {
    const row = data.rows[name];
    if (!row) return element("td", {}, "");
    const known = row.information !== null;
    const words = `${name}: loss ${number(row.loss)} nats`
      + (known ? `, proves ${number(row.information)} nats of at most ${number(row.ceiling)}` : "");
    buttons[name] = element(
      "button",
      { type: "button", title: words, "aria-pressed": "false", onclick: () => choose(name),
        style: `--share:${known ? Math.max(row.information, 0) / highest : 0}` },
      known ? number(row.information) : number(row.loss),
      element("small", {}, known ? `loss ${number(row.loss)}` : "loss"),
    );
    return element("td", {}, buttons[name]);
  }

  const head = element("tr", {}, element("th", { class: "words" }, "anchor \\ target"), ...targets.map((one) => element("th", {}, one)));
  const rows = anchors.map((anchor) => element("tr", {}, element("th", { class: "words", scope: "row" }, anchor),
    ...targets.map((target) => cell(`${anchor}->${target}`))));
  const table = element("table", { class: "pairs" }, element("caption", {}, "Information that each pair proves, in nats; click one to see its curve"), head, ...rows);
  holder.append(element("div", { class: "table" }, table));
};
