// Samples: a map of all embeddings, and for the one that was clicked whom it finds in every other view.

// The first of those of which there is most to show.
function fullest(all, count) {
  return all.reduce((best, one) => (count(one) > count(best) ? one : best), all[0]);
}

KINDS.samples = (holder, data) => {
  const HEIGHT = 420;
  const state = {
    kind: Object.keys(data.maps)[0],
    by: data.classes.length ? "label" : "view",
    views: new Set(data.views),
    sample: 0,
    from: fullest(data.views, (view) => data.present[view].reduce((sum, one) => sum + one, 0)),
  };
  let places = [];
  let hover = null;

  const chart = element("div", { class: "chart" });
  const picture = canvas(HEIGHT, draw);
  picture.setAttribute("aria-label", "map of the embeddings");
  picture.style.cursor = "pointer";
  chart.append(picture);
  const tooltip = tip(chart);
  const above = element("div");
  const below = element("div");
  const panel = element("div", { class: "panel", "aria-live": "polite" });
  const left = element("div", { class: "panel" }, above, chart, below);
  const contact = element("div");
  holder.append(element("div", { class: "explorer" }, left, panel), contact);

  const labelOf = (sample) => (data.label.length && data.label[sample] >= 0 ? data.classes[data.label[sample]] : "");
  const has = (sample, view) => data.present[view][sample] === 1;

  const ending = (name) => (name.length > 7 ? `…${name.slice(-5).trim()}` : name); // names of files differ at their end

  function image(sample, view) {
    if (!has(sample, view)) return element("span", { class: "image missing" });
    const sheet = data.sheets[view];
    const x = (sample % sheet.across) * 56;
    const y = Math.floor(sample / sheet.across) * 56;
    return element("span", { class: "image", style: `background-image:url(${sheet.source});background-position:-${x}px -${y}px` });
  }

  function tile(sample, view, words, options = {}) {
    return element("button", {
      type: "button", class: `tile${options.self ? " self" : ""}`, title: `${data.names[sample]} in ${view}${labelOf(sample) ? `, ${labelOf(sample)}` : ""}`,
      "aria-pressed": String(Boolean(options.pressed)), disabled: Boolean(options.off), onclick: () => pick(sample, view),
    }, image(sample, view), element("small", {}, words));
  }

  function pick(sample, view) {
    state.sample = sample;
    state.from = has(sample, view) ? view : data.views.find((one) => has(sample, one)) || view;
    holder.dataset.sample = String(sample);
    show();
    picture.redraw();
  }

  function show() {
    const { sample, from } = state;
    const label = labelOf(sample);
    const own = data.views.map((view) => tile(sample, view, view, { pressed: view === from, off: !has(sample, view) }));
    const rows = data.views.filter((view) => data.near[from] && data.near[from][view]).flatMap((view) => neighbours(sample, from, view));
    panel.replaceChildren(
      element("h3", {}, data.names[sample], ...(label ? [element("span", { class: "hint" }, `  ${label}`)] : [])),
      element("div", { class: "tiles own" }, ...own),
      element("div", { class: "hint" }, `Click a view to look from it. Nearest to ${from} by cosine, itself framed in green:`),
      ...rows,
    );
  }

  function neighbours(sample, from, view) {
    const rank = data.rank[from][view][sample];
    const words = !has(sample, from) ? "not there to ask" : rank ? `finds itself at place ${rank}` : "is not there to be found";
    const found = has(sample, from) ? data.near[from][view][sample] : [];
    const tiles = found.map((one, at) => tile(one, view, data.cosine[from][view][sample][at].toFixed(2), { self: one === sample }));
    return [
      element("h4", {}, `in ${view}: ${words}`),
      element("div", { class: "tiles near", "data-view": view }, ...tiles),
    ];
  }

  function points() {
    const map = data.maps[state.kind];
    return data.views.flatMap((view, at) => (map[view] && state.views.has(view)
      ? map[view].map((place, sample) => ({ view, at, sample, x: place[0], y: place[1] })).filter((one) => has(one.sample, view))
      : []));
  }

  function draw(context, width, height) {
    const found = points();
    const bounds = (axis) => {
      const values = found.map((one) => one[axis]);
      return [Math.min(...values), Math.max(...values)];
    };
    const [left, right] = bounds("x");
    const [low, high] = bounds("y");
    const scale = Math.min((width - 24) / (right - left || 1), (height - 24) / (high - low || 1));
    places = found.map((one) => ({
      ...one,
      px: width / 2 + (one.x - (left + right) / 2) * scale,
      py: height / 2 - (one.y - (low + high) / 2) * scale,
    }));
    for (const one of places) {
      const shade = state.by === "view" ? one.at : data.label.length ? data.label[one.sample] : -1;
      context.fillStyle = state.by === "label" && shade < 0 ? paint("line") : colour(shade);
      context.globalAlpha = 0.75;
      mark(context, one, 3.4);
    }
    context.globalAlpha = 1;
    context.lineWidth = 2;
    for (const one of places.filter((place) => place.sample === state.sample)) {
      context.strokeStyle = paint("ink");
      context.beginPath();
      context.arc(one.px, one.py, 7, 0, 7);
      context.stroke();
    }
  }

  // Views have shapes of their own where colours tell the labels.
  function mark(context, one, size) {
    context.beginPath();
    if (state.by === "label" && one.at % 4 === 1) context.rect(one.px - size, one.py - size, 2 * size, 2 * size);
    else if (state.by === "label" && one.at % 4 === 2) {
      context.moveTo(one.px, one.py - 1.3 * size);
      context.lineTo(one.px + 1.3 * size, one.py + size);
      context.lineTo(one.px - 1.3 * size, one.py + size);
    } else if (state.by === "label" && one.at % 4 === 3) {
      context.moveTo(one.px, one.py - 1.4 * size);
      context.lineTo(one.px + 1.4 * size, one.py);
      context.lineTo(one.px, one.py + 1.4 * size);
      context.lineTo(one.px - 1.4 * size, one.py);
    } else context.arc(one.px, one.py, size, 0, 7);
    context.fill();
  }

  function under(event) {
    let best = null;
    let reach = 12 ** 2;
    for (const one of places) {
      const away = (one.px - event.offsetX) ** 2 + (one.py - event.offsetY) ** 2;
      if (away < reach) { best = one; reach = away; }
    }
    return best;
  }

  picture.addEventListener("pointermove", (event) => {
    hover = under(event);
    if (!hover) { tooltip.hide(); return; }
    const words = [data.names[hover.sample], labelOf(hover.sample), hover.view].filter(Boolean).join(", ");
    tooltip.show(event.offsetX, event.offsetY, image(hover.sample, hover.view), element("div", {}, words));
  });
  picture.addEventListener("pointerleave", () => tooltip.hide());
  picture.addEventListener("click", (event) => { const one = under(event); if (one) pick(one.sample, one.view); });

  function build() {
    const kinds = Object.keys(data.maps).map((kind) => chip(kind, kind === state.kind, () => { state.kind = kind; build(); }));
    const ways = (data.classes.length ? ["label", "view"] : ["view"]).map((by) => chip(by, by === state.by, () => { state.by = by; build(); }));
    above.replaceChildren(controls("map", ...kinds, element("span", { class: "gap" }), element("span", { class: "label" }, "colour"), ...ways));
    const shapes = state.by === "label" ? ["●", "■", "▲", "◆"] : null;
    const views = data.views.map((view, at) => chip(shapes ? `${shapes[at % 4]} ${view}` : view, state.views.has(view), () => toggle(view), shapes ? undefined : at));
    const classes = state.by === "label" ? data.classes.slice(0, 40).map((name, at) => element("span", {}, dot(colour(at)), name)) : [];
    if (classes.length && data.label.some((one) => one < 0)) classes.push(element("span", {}, dot(paint("line")), "no label"));
    below.replaceChildren(controls("views", ...views), ...(classes.length ? [element("div", { class: "controls hint legend" }, ...classes)] : []));
    for (const mark of below.querySelectorAll(".legend .dot")) mark.style.cssText += ";display:inline-block;width:.6rem;height:.6rem;border-radius:50%;margin-right:.3rem";
    picture.redraw();
  }

  function toggle(view) {
    if (state.views.has(view) && state.views.size > 1) state.views.delete(view);
    else state.views.add(view);
    build();
  }

  function sheet(view) {
    const order = data.names.map((_, at) => at);
    if (data.label.length) order.sort((a, b) => data.label[a] - data.label[b] || a - b);
    const tiles = order.map((sample) => tile(sample, view, labelOf(sample) || ending(data.names[sample])));
    const views = data.views.map((one) => chip(one, one === view, () => sheet(one)));
    contact.replaceChildren(controls("all samples of this page, in", ...views), element("div", { class: "tiles contact" }, ...tiles));
  }

  darkness.addEventListener("change", build);
  build();
  pick(fullest(data.names.map((_, sample) => sample), (sample) => data.views.filter((view) => has(sample, view)).length), state.from);
  sheet(state.from);
};
