// Asks for newer films of a run that is being computed, until it is over, and has the player show them.
(async () => {
  const said = document.getElementById("said"), pause = (ms) => new Promise((done) => setTimeout(done, ms));
  while (!window.gaussdynPlayer) await pause(20);
  for (let seen = 0, over = false; !over;) {
    try {
      const found = await (await fetch(`film?seen=${seen}`)).json();
      if (!found) continue;
      await window.gaussdynPlayer.take(found.film);
      said.textContent = found.said;
      ({ number: seen, over } = found);
    } catch {
      said.textContent = "the program that computes it has ended; what is here can still be played";
      over = true;
    }
  }
})();
