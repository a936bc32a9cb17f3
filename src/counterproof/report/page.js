"use strict";
(() => {
  const root = document.documentElement;
  const errors = [];
  const note = (text) => {
    errors.push(String(text));
    root.dataset.errors = errors.join(" | ");
  };
  root.dataset.errors = "";
  addEventListener("error", (event) => note(event.message));
  addEventListener("unhandledrejection", (event) => note(event.reason));
  addEventListener("securitypolicyviolation", (event) => note("blocked " + event.violatedDirective));

  const stored = () => {
    try {
      return localStorage.getItem("counterproof-theme");
    } catch {
      return null; // a page opened from a file may have no storage; the theme is then kept for this visit only
    }
  };
  const store = (theme) => {
    try {
      localStorage.setItem("counterproof-theme", theme);
    } catch {
      return;
    }
  };
  const theme = () => root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  if (["light", "dark"].includes(stored())) root.dataset.theme = stored();

  const prepareToggle = () => {
    const button = document.getElementById("theme");
    const label = () => {
      button.textContent = theme() === "dark" ? "Light colours" : "Dark colours";
    };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = theme() === "dark" ? "light" : "dark";
      store(root.dataset.theme);
      label();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
    label();
  };

  const openTarget = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let box = target; box; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
    target.scrollIntoView();
  };

  const ERRORS_ONLY = 1; // Vega's number for it
  const draw = async () => {
    const data = document.getElementById("chart-data");
    const specs = data ? JSON.parse(data.textContent) : [];
    for (const [i, spec] of specs.entries()) {
      const place = document.getElementById("plot-" + i);
      const wide = { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } };
      try {
        const options = { actions: false, mode: "vega-lite", renderer: "svg", logLevel: ERRORS_ONLY };
        await window.vegaEmbed(place, wide, options);
      } catch (error) {
        note(error);
        place.textContent = "This chart could not be drawn; its data are below.";
      }
    }
  };

  addEventListener("DOMContentLoaded", async () => {
    prepareToggle();
    addEventListener("hashchange", openTarget);
    await draw();
    openTarget();
    root.dataset.ready = "true";
  });
})();
