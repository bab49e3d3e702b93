// Curves: drag to zoom in, double click to see all again, hover to read values.

KINDS.curves = (holder, data) => {
  const MARGIN = { left: 52, right: 14, top: 16, bottom: 40 };
  let metric = data.metrics[0];
  let shown = new Set();
  let span = null;
  let drag = null;
  let hover = null;
  if (!metric) {
    holder.append(element("p", { class: "hint" }, "Nothing was logged."));
    return;
  }
  const names = () => Object.keys(metric.curves);
  const chart = element("div", { class: "chart" });
  const picture = canvas(300, draw);
  picture.classList.add("zooms");
  picture.setAttribute("aria-label", "curves over the steps");
  chart.append(picture);
  const tooltip = tip(chart);
  const choice = element("div");
  const legend = element("div");
  const hint = element("div", { class: "hint" }, "Drag to zoom in, double click to see all.");
  holder.append(choice, chart, legend, hint);

  function choose(next) {
    metric = next;
    shown = new Set([...shown].filter((name) => name in metric.curves));
    if (!shown.size) shown = new Set(names());
    build();
  }

  function build() {
    const chips = data.metrics.map((one) => chip(one.name, one === metric, () => choose(one)));
    choice.replaceChildren(...(data.metrics.length > 1 ? [controls("show", ...chips)] : []));
    const lines = names().map((name, at) => chip(name, shown.has(name), () => toggle(name), at));
    const all = chip("all", shown.size === names().length, () => { shown = new Set(names()); build(); });
    legend.replaceChildren(controls("", ...(lines.length > 1 ? [all] : []), ...lines));
    picture.redraw();
  }

  // The first click shows one alone, further ones add and take away.
  function toggle(name) {
    if (shown.size === names().length && shown.size > 1) shown = new Set([name]);
    else if (shown.has(name) && shown.size > 1) shown.delete(name);
    else shown.add(name);
    build();
  }

  function lines() {
    return names().map((name, at) => ({ name, at, curve: metric.curves[name] })).filter((one) => shown.has(one.name));
  }

  function extent() {
    const steps = names().flatMap((name) => metric.curves[name][0]);
    const whole = [Math.min(...steps), Math.max(...steps)];
    const [from, to] = span || (whole[0] < whole[1] ? whole : [whole[0] - 1, whole[1] + 1]);
    let low = Infinity;
    let high = -Infinity;
    const look = ([xs, ys]) => xs.forEach((x, at) => {
      if (x < from || x > to || ys[at] === null) return;
      low = Math.min(low, ys[at]);
      high = Math.max(high, ys[at]);
    });
    for (const line of lines()) {
      look(line.curve);
      if (metric.ceilings[line.name]) look(metric.ceilings[line.name]);
    }
    if (low > high) [low, high] = [0, 1];
    const room = (high - low || Math.abs(high) || 1) * 0.07;
    return { from, to, low: low - room, high: high + room };
  }

  function scales(width, height) {
    const e = extent();
    const across = width - MARGIN.left - MARGIN.right;
    const down = height - MARGIN.top - MARGIN.bottom;
    return {
      ...e,
      x: (value) => MARGIN.left + ((value - e.from) / (e.to - e.from)) * across,
      y: (value) => MARGIN.top + (1 - (value - e.low) / (e.high - e.low)) * down,
      step: (pixel) => e.from + ((pixel - MARGIN.left) / across) * (e.to - e.from),
    };
  }

  function trace(context, s, [xs, ys]) {
    context.beginPath();
    let open = false;
    xs.forEach((x, at) => {
      if (ys[at] === null) { open = false; return; }
      if (open) context.lineTo(s.x(x), s.y(ys[at]));
      else context.moveTo(s.x(x), s.y(ys[at]));
      open = true;
    });
    context.stroke();
  }

  function draw(context, width, height) {
    const s = scales(width, height);
    drawGrid(context, s, width, height);
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, MARGIN.top, width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom);
    context.clip();
    context.lineWidth = 1;
    context.strokeStyle = paint("quiet");
    context.setLineDash([2, 3]);
    for (const line of lines()) if (metric.ceilings[line.name]) trace(context, s, metric.ceilings[line.name]);
    context.setLineDash([]);
    context.lineWidth = 1.8;
    for (const line of lines()) {
      context.strokeStyle = colour(line.at);
      trace(context, s, line.curve);
      if (line.curve[0].length === 1) {
        context.fillStyle = colour(line.at);
        context.fillRect(s.x(line.curve[0][0]) - 3, s.y(line.curve[1][0]) - 3, 6, 6);
      }
    }
    if (hover !== null && drag === null) {
      context.strokeStyle = paint("quiet");
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(hover, MARGIN.top);
      context.lineTo(hover, height - MARGIN.bottom);
      context.stroke();
    }
    if (drag !== null && hover !== null) {
      context.globalAlpha = 0.15;
      context.fillStyle = paint("accent");
      context.fillRect(Math.min(drag, hover), MARGIN.top, Math.abs(hover - drag), height - MARGIN.top - MARGIN.bottom);
    }
    context.restore();
  }

  function drawGrid(context, s, width, height) {
    context.strokeStyle = paint("line");
    context.fillStyle = paint("quiet");
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of ticks(s.low, s.high, 5)) {
      context.beginPath();
      context.moveTo(MARGIN.left, s.y(value));
      context.lineTo(width - MARGIN.right, s.y(value));
      context.stroke();
      context.fillText((value || 0).toLocaleString("en", { maximumFractionDigits: 4 }), MARGIN.left - 8, s.y(value));
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const value of ticks(s.from, s.to, Math.max(2, Math.floor(width / 130)))) {
      context.fillText(value.toLocaleString("en"), s.x(value), height - MARGIN.bottom + 6);
    }
    context.textAlign = "right";
    context.fillText("step", width - MARGIN.right, height - 16);
    context.textAlign = "left";
    context.fillText(Object.keys(metric.ceilings).length ? `${metric.unit}; dotted: the most that can be proved` : metric.unit, 4, 0);
  }

  function nearest([xs, ys], step) {
    let best = -1;
    xs.forEach((x, at) => { if (ys[at] !== null && (best < 0 || Math.abs(x - step) < Math.abs(xs[best] - step))) best = at; });
    return best;
  }

  function tell(event) {
    const s = scales(picture.clientWidth, 300);
    const step = s.step(hover);
    const rows = lines().map((line) => {
      const at = nearest(line.curve, step);
      return { line, x: line.curve[0][at], y: line.curve[1][at] };
    }).filter((one) => one.x !== undefined).sort((a, b) => b.y - a.y);
    if (!rows.length) return;
    const list = rows.slice(0, 14).map((one) => element("div", { class: "row" },
      element("span", {}, dot(colour(one.line.at)), one.line.name), element("b", {}, number(one.y))));
    tooltip.show(event.offsetX, event.offsetY, element("div", { class: "hint" }, `step ${rows[0].x.toLocaleString("en")}`), ...list);
  }

  picture.addEventListener("pointermove", (event) => {
    hover = Math.max(MARGIN.left, Math.min(event.offsetX, picture.clientWidth - MARGIN.right));
    picture.redraw();
    tell(event);
  });
  picture.addEventListener("pointerleave", () => { hover = null; drag = null; tooltip.hide(); picture.redraw(); });
  picture.addEventListener("pointerdown", (event) => { drag = event.offsetX; hover = event.offsetX; });
  picture.addEventListener("pointerup", (event) => {
    const begun = drag;
    drag = null;
    if (begun === null || Math.abs(event.offsetX - begun) < 6) return;
    const s = scales(picture.clientWidth, 300);
    span = [s.step(Math.min(begun, event.offsetX)), s.step(Math.max(begun, event.offsetX))];
    holder.dataset.zoomed = "yes";
    picture.redraw();
  });
  picture.addEventListener("dblclick", () => { span = null; delete holder.dataset.zoomed; picture.redraw(); });
  document.addEventListener("coview-pair", (event) => {
    if (!data.run || event.detail.run !== data.run) return;
    shown = event.detail.pair in metric.curves ? new Set([event.detail.pair]) : new Set(names());
    build();
  });
  darkness.addEventListener("change", build);
  choose(metric);
};
