"use strict";
(() => {
  // Tables: a button in each heading sorts; a field above long tables filters.
  const keyOf = (cell) => {
    if (cell.dataset.key !== undefined) return Number(cell.dataset.key);
    return cell.textContent;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === typeof b) return a.localeCompare(b, undefined, { numeric: true });
    return typeof a === "number" ? -1 : 1; // what is unknown comes last
  };
  const sortBy = (table, place, heading) => {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [keyOf(row.cells[place]), row]);
    rows.sort(([a], [b]) => (down ? compare(b, a) : compare(a, b)));
    body.append(...rows.map(([, row]) => row));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    if (body.rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((heading, place) => {
      if (!heading.textContent) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      button.title = "Sort by this column";
      heading.replaceChildren(button);
      button.addEventListener("click", () => sortBy(table, place, heading));
    });
    if (body.rows.length > 8) {
      const field = document.createElement("input");
      field.type = "search";
      const label = document.createElement("label");
      label.className = "filter";
      label.append("Filter rows ", field);
      field.addEventListener("input", () => {
        const words = field.value.toLowerCase();
        for (const row of body.rows) {
          row.hidden = !row.textContent.toLowerCase().includes(words);
        }
      });
      table.parentNode.before(label);
    }
  }

  // A table that is wider than its place says so.
  const sizes = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      target.classList.toggle("wide", target.scrollWidth > target.clientWidth);
    }
  });
  for (const one of document.querySelectorAll(".scroll")) sizes.observe(one);

  // A link to a folded chapter opens it.
  const unfold = () => {
    const fold = document.getElementById(location.hash.slice(1))?.querySelector(".fold");
    if (fold) fold.open = true;
  };
  window.addEventListener("hashchange", unfold);
  unfold();

  // On paper nothing unfolds: the values of charts stay folded, the cases are opened.
  window.addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll(".case, .fold")) one.open = true;
  });

  // Answers: compressed JSON in the page, unpacked when it is needed.
  const source = document.getElementById("answers-index");
  if (!source || typeof DecompressionStream === "undefined") return;
  const unpack = async (id) => {
    const packed = document.getElementById(id).textContent;
    const bytes = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  };
  const chunks = new Map();
  const chunk = (number) => {
    if (!chunks.has(number)) chunks.set(number, unpack(`answers-${number}`));
    return chunks.get(number);
  };
  const STATUS = ["failed", "wrong", "right", "answered"];
  const PAGE = 50;
  const byId = (id) => document.getElementById(id);
  const make = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const options = (select, first, names) => {
    select.append(new Option(first, ""));
    names.forEach((name, place) => select.append(new Option(name, String(place))));
  };

  const start = async () => {
    const index = await unpack("answers-index");
    const list = byId("case-list");
    const search = byId("case-search");
    const status = byId("case-status");
    const agent = byId("case-agent");
    const benchmark = byId("case-benchmark");
    const more = byId("case-more");
    options(status, "all answers", STATUS);
    options(agent, "all agents", index.agents);
    options(benchmark, "all benchmarks", index.benchmarks);
    byId("case-controls").hidden = false;
    let wanted = [];
    let shown = 0;

    const textsOf = async (row) => {
      const [, , , , , , place] = row;
      if (place < 0) return [["", "Left out of this page to keep it small."]];
      const part = await chunk(Math.floor(place / index.size));
      return part[place % index.size];
    };
    const item = (row) => {
      const [id, agentNo, benchmarkNo, times, statusNo, duration] = row;
      const box = make("details", undefined, `case ${STATUS[statusNo]}`);
      const summary = make("summary");
      const about = [index.agents[agentNo], index.benchmarks[benchmarkNo], times, duration];
      summary.append(
        make("span", STATUS[statusNo], "status"), ` ${id} `,
        make("span", about.filter(Boolean).join(" · "), "quiet"));
      box.append(summary);
      box.addEventListener("toggle", async () => {
        if (!box.open || box.children.length > 1) return;
        const texts = make("dl");
        box.append(texts);
        for (const [name, text] of await textsOf(row)) {
          const value = make("dd");
          value.append(make("pre", text));
          texts.append(make("dt", name), value);
        }
      });
      return box;
    };
    const showMore = () => {
      const part = wanted.slice(shown, shown + PAGE);
      list.append(...part.map(item));
      shown += part.length;
      more.hidden = shown >= wanted.length;
      const all = index.rows.length.toLocaleString("en");
      byId("case-count").textContent =
        `${wanted.length.toLocaleString("en")} of ${all} answers, ${shown.toLocaleString("en")} listed`;
    };
    let turn = 0;
    const choose = async () => {
      const mine = ++turn;
      const words = search.value.toLowerCase();
      const found = [];
      for (const row of index.rows) {
        if (status.value && row[4] !== Number(status.value)) continue;
        if (agent.value && row[1] !== Number(agent.value)) continue;
        if (benchmark.value && row[2] !== Number(benchmark.value)) continue;
        if (words && !row[0].toLowerCase().includes(words)) {
          const texts = row[6] < 0 ? [] : await textsOf(row);
          if (mine !== turn) return; // the reader types on
          if (!texts.some(([, text]) => text.toLowerCase().includes(words))) continue;
        }
        found.push(row);
      }
      wanted = found;
      shown = 0;
      list.replaceChildren();
      showMore();
    };
    more.addEventListener("click", showMore);
    search.addEventListener("input", choose);
    for (const one of [status, agent, benchmark]) one.addEventListener("change", choose);
    await choose();
    document.body.dataset.ready = "yes";
  };
  start();
})();
